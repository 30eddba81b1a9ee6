import { type CallbackHandler, routeOf } from '../callback-handler.js';
import { type NodeRequest, type NodeResponse, respond, send } from './node-http.js';

/** The part of an Express request that the adapter uses. */
export interface ExpressRequest extends NodeRequest {
  /** The request target, mount path included. */
  readonly originalUrl: string;
  readonly body?: unknown;
}

/**
 * The callbacks as Express middleware: call `app.use(toExpressHandler(handler))` before `app.use(express.json())`. The
 * middleware reads the body itself, or uses the body that `express.raw()` has read. It passes on other requests.
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
