import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { CroupierError } from '../errors/croupier-error.js';
import { BoundedBytes } from '../runtime/bounded-bytes.js';
import { continueToBody } from './postponed-continue.js';
import { BODY_READING, type BodyReading, StreamedBody } from './streamed-body.js';

/** How bodies are read by default. */
const DEFAULT: BodyReading = { limitBytes: 64 * 1024, streamed: false };

/**
 * How many bytes of a chunked body are read beyond the limit before the request is refused. A request whose
 * Content-Length exceeds the limit is refused at once.
 */
const PATIENCE_BYTES = 1024 * 1024;

/** Sets the body limit of a route, in bytes. */
export const BodyLimit = (limitBytes: number) =>
  SetMetadata(BODY_READING, { limitBytes, streamed: false } satisfies BodyReading);

/**
 * Reads the body as bytes, whatever its content type, because the signature covers these bytes. It is a guard and not a
 * middleware, so that the body of a request to an unknown route is not read. A route with `StreamsBody` reads the body
 * itself, after this guard has checked its length and encoding. Contract, section 1, "Order of checks".
 * @throws CroupierError PAYLOAD_TOO_LARGE · UNSUPPORTED_ENCODING · INVALID_REQUEST if the body does not arrive complete
 */
@Injectable()
export class RawBodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): Promise<true> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    const { limitBytes: limit, streamed } =
      this.reflector.get<BodyReading | undefined>(BODY_READING, context.getHandler()) ?? DEFAULT;
    const encoding = request.headers['content-encoding'] || 'identity';
    if (encoding.toLowerCase() !== 'identity')
      throw new CroupierError('UNSUPPORTED_ENCODING', undefined, CLOSE);
    if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
    if (streamed) {
      request.body = new StreamedBody(request, response, limit);
      return Promise.resolve(true);
    }
    continueToBody(response);
    return readBody(request, limit);
  }
}

/** The rest of a refused body is not read, so the connection cannot carry another request. */
const CLOSE = { Connection: 'close' };

function tooLarge(message?: string): CroupierError {
  return new CroupierError('PAYLOAD_TOO_LARGE', message, CLOSE);
}

function readBody(request: Request, limit: number): Promise<true> {
  return new Promise((resolve, reject) => {
    const body = new BoundedBytes(limit);
    const broken = () =>
      reject(new CroupierError('INVALID_REQUEST', 'the request body could not be read', CLOSE));
    const refuse = (refusal: CroupierError) => {
      request.pause();
      reject(refusal);
    };
    request.on('data', (chunk: Buffer) => {
      if (body.add(chunk)) return;
      if (body.hasTooManyParts) refuse(tooLarge('the request body arrives in too many parts'));
      // Most clients read the answer only after they have sent the whole body, so a limited part of the excess is read
      // before the refusal.
      else if (body.receivedBytes > limit + PATIENCE_BYTES) refuse(tooLarge());
    });
    request.on('end', () => {
      if (body.receivedBytes > limit) return reject(tooLarge());
      request.body = body.bytes();
      resolve(true);
    });
    request.on('error', broken);
    request.on('close', () => request.complete || broken());
  });
}
