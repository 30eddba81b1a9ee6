import { callbackNamed, type CallbackHandler } from '../callback-handler.js';
import { type NodeRequest, type NodeResponse, respond, send } from './node-http.js';

/** Of an Express request, what is needed here. */
export interface ExpressRequest extends NodeRequest {
  /** The request target, mount path included. */
  readonly originalUrl: string;
  readonly body?: unknown;
}

/**
 * The callbacks as an Express middleware, for `app.use(toExpressHandler(handler))` in front of `express.json()`. It reads
 * the body itself, or takes what `express.raw()` left; what is no callback goes on to the next.
 */
export function toExpressHandler(
  handler: CallbackHandler,
): (request: ExpressRequest, response: NodeResponse, next: () => void) => void {
  return (request, response, next) => {
    const { method = '', originalUrl: path, headers, body } = request;
    if (!callbackNamed(method, path)) return next();
    if (!(body instanceof Uint8Array)) return void respond(handler, { method, path, request }, response);
    void handler({ method, path, headers, body }).then((answer) => send(response, answer));
  };
}
