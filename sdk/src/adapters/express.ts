import { type CallbackHandler, routeOf } from '../callback-handler.js';
import { type NodeRequest, type NodeResponse, respond } from './node-http.js';

/** The part of an Express request that the adapter uses. */
export interface ExpressRequest extends NodeRequest {
  /** The request target, mount path included. */
  readonly originalUrl: string;
}

/**
 * The callbacks as Express middleware: call `app.use(toExpressHandler(handler))` before `app.use(express.json())`. The
 * middleware reads the body itself, unless `request.rawBody` has it, as on Firebase and Google Cloud Functions, or
 * `express.raw()` has read it. It passes on other requests.
 */
export function toExpressHandler(
  handler: CallbackHandler,
): (request: ExpressRequest, response: NodeResponse, next: () => void) => void {
  return (request, response, next) => {
    const { method = '', originalUrl: path } = request;
    if (!routeOf(handler, method, path)) return next();
    void respond(handler, { method, path, request }, response);
  };
}
