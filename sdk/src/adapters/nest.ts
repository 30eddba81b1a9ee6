import type { CallbackHandler } from '../callback-handler.js';

/** Of the request in a Nest controller, what is needed here, on Express as on Fastify. */
export interface NestRequest {
  readonly method: string;
  readonly originalUrl: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** There with `NestFactory.create(…, {rawBody: true})`. */
  readonly rawBody?: Uint8Array | undefined;
}

/** Of the response in a Nest controller, what is needed here, on Express as on Fastify. */
export interface NestResponse {
  status(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
}

/**
 * The callbacks for a Nest controller: call it with what `@Req()` and `@Res()` give. The application has to be created
 * with `{rawBody: true}`, because Nest parses bodies before a controller sees them.
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
