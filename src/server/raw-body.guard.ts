import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { ServerResponse } from 'node:http';
import { CroupierError } from '../errors/croupier-error.js';

/** Default limit of a request body, in bytes. */
const BODY_LIMIT_BYTES = 64 * 1024;

/**
 * How many bytes of a chunked body are read beyond the limit before the request is refused. A request whose
 * Content-Length exceeds the limit is refused at once.
 */
const PATIENCE_BYTES = 1024 * 1024;

const BODY_LIMIT = 'croupier:body-limit';

/** Sets the body limit of a route, in bytes. */
export const BodyLimit = (bytes: number) => SetMetadata(BODY_LIMIT, bytes);

/**
 * Reads the body as bytes, whatever its content type, because the signature covers these bytes. It is a guard and not a
 * middleware, so that the body of a request to an unknown route is not read. Contract, section 1, "Order of checks".
 * @throws CroupierError PAYLOAD_TOO_LARGE · UNSUPPORTED_ENCODING · INVALID_REQUEST if the body does not arrive complete
 */
@Injectable()
export class RawBodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): Promise<true> {
    const request = context.switchToHttp().getRequest<Request>();
    const limit =
      this.reflector.get<number | undefined>(BODY_LIMIT, context.getHandler()) ?? BODY_LIMIT_BYTES;
    const encoding = request.headers['content-encoding'] || 'identity';
    if (encoding.toLowerCase() !== 'identity')
      throw new CroupierError('UNSUPPORTED_ENCODING', undefined, CLOSE);
    if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
    continueToBody(context.switchToHttp().getResponse<Response>());
    return readBody(request, limit);
  }
}

/** The rest of a refused body is not read, so the connection cannot carry another request. */
const CLOSE = { Connection: 'close' };

function tooLarge(): CroupierError {
  return new CroupierError('PAYLOAD_TOO_LARGE', undefined, CLOSE);
}

function readBody(request: Request, limit: number): Promise<true> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const broken = () =>
      reject(new CroupierError('INVALID_REQUEST', 'the request body could not be read', CLOSE));
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      // Most clients read the answer only after they have sent the whole body, so a limited part of the excess is read
      // before the refusal.
      else if (size > limit + PATIENCE_BYTES) {
        request.pause();
        reject(tooLarge());
      }
    });
    request.on('end', () => {
      if (size > limit) return reject(tooLarge());
      request.body = wholeOf(chunks);
      resolve(true);
    });
    request.on('error', broken);
    request.on('close', () => request.complete || broken());
  });
}

function wholeOf(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return only && chunks.length === 1 ? only : Buffer.concat(chunks);
}

/** Responses whose clients wait for `100 Continue` before they send the body. */
const POSTPONED = new WeakSet<ServerResponse>();

/**
 * Postpones `100 Continue` until a guard reads the body, so that a refused client sends no body. A refusal closes the
 * connection, because the client may send the body anyway. RFC 9110, section 10.1.1.
 */
export function postponeContinue(response: ServerResponse): void {
  POSTPONED.add(response);
  response.setHeader('Connection', 'close');
}

function continueToBody(response: ServerResponse): void {
  if (!POSTPONED.delete(response)) return;
  response.removeHeader('Connection');
  response.writeContinue();
}
