import type { CallbackHandler } from '../callback-handler.js';
import { keptBody, type MaybeRead } from './raw-body.js';

/** The part of a Fastify request that the adapter uses. */
export interface FastifyRequestLike extends MaybeRead {
  readonly method: string;
  /** The request target as received, before `rewriteUrl`. */
  readonly originalUrl: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The part of a Fastify reply that the adapter uses. */
export interface FastifyReplyLike {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
}

/** The part of a Fastify instance that the adapter uses. */
export interface FastifyLike {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer' },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(
    path: string,
    options: { bodyLimit: number },
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>,
  ): unknown;
}

/**
 * The callbacks as a Fastify plugin, for `app.register(toFastifyPlugin(handler), {prefix: '/rgs'})`. The plugin
 * keeps bodies as the bytes received. It does not affect the parsers of your other routes.
 */
export function toFastifyPlugin(handler: CallbackHandler): (fastify: FastifyLike) => Promise<void> {
  return async (fastify) => {
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
    for (const path of handler.routes) {
      fastify.post(path, { bodyLimit: handler.maxBodyBytes }, async (request, reply) => {
        const { method, originalUrl, headers } = request;
        // Fastify calls no parser for a request that has neither Content-Type nor body.
        const body = keptBody(request) ?? '';
        const answer = await handler({ method, path: originalUrl, headers, body });
        reply.code(answer.status);
        reply.header('Content-Type', answer.headers['Content-Type']);
        return reply.send(answer.body);
      });
    }
  };
}
