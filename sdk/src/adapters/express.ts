import { type CallbackHandler, routeOf } from '../callback-handler.js';
import { type NodeRequest, type NodeResponse, respond, send } from './node-http.js';

/** The part of an Express request that the adapter uses. */
export interface ExpressRequest extends NodeRequest {
  /** The request target, mount path included. */
  readonly originalUrl: string;
  readonly body?: unknown;
}

/**
 * The callbacks as an Express middleware, for `app.use(toExpressHandler(handler))` before `express.json()`. It reads
 * the body itself, or takes the one that `express.raw()` has read; other requests are passed to the next middleware.
 */
export function toExpressHandler(
  handler: CallbackHandler,
): (request: ExpressRequest, response: NodeResponse, next: () => void) => void {
  return (request, response, next) => {
    const { method = '', originalUrl: path, headers, body } = request;
    if (!routeOf(handler, method, path)) return next();
    if (!(body instanceof Uint8Array)) return void respond(handler, { method, path, request }, response);
    void handler({ method, path, headers, body }).then((answer) => send(response, answer));
  };
}
