import type { CallbackHandler } from '../callback-handler.js';
import { keptBody, type MaybeRead } from './raw-body.js';

/** The part of a Nest controller's request that the adapter uses, on Express and on Fastify. */
export interface NestRequest extends MaybeRead {
  readonly method: string;
  readonly originalUrl: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The part of a Nest controller's response that the adapter uses, on Express and on Fastify. */
export interface NestResponse {
  status(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
}

/**
 * The callbacks for a Nest controller: call the returned function with the values of `@Req()` and `@Res()`. Create the
 * application with `{rawBody: true}`, because Nest parses bodies before a controller sees them.
 */
export function toNestHandler(
  handler: CallbackHandler,
): (request: NestRequest, response: NestResponse) => Promise<void> {
  return async (request, response) => {
    const { method, originalUrl: path, headers } = request;
    const answer = await handler({ method, path, headers, body: keptBody(request) });
    response.status(answer.status);
    response.header('Content-Type', answer.headers['Content-Type']);
    response.send(answer.body);
  };
}
