import type { CallbackHandler } from '../callback-handler.js';

/** The part of a Nest controller's request that the adapter uses, on Express and on Fastify. */
export interface NestRequest {
  readonly method: string;
  readonly originalUrl: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Present with `NestFactory.create(…, {rawBody: true})`. */
  readonly rawBody?: Uint8Array | undefined;
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
  return async ({ method, originalUrl: path, headers, rawBody: body }, response) => {
    const answer = await handler({ method, path, headers, body });
    response.status(answer.status);
    response.header('Content-Type', answer.headers['Content-Type']);
    response.send(answer.body);
  };
}
