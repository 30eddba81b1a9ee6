import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Logger,
  ServiceUnavailableException,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { refusedWith } from '../observability/trace.js';
import { CATALOGUE } from './catalogue.js';
import { CroupierError, InvalidSignatureError } from './croupier-error.js';

/** Makes every error the contract's shape: `{"error": message}`, `X-Error-Code`, `X-Next-Action`. Section 2. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Error');

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<FastifyReply>();
    if (response.raw.headersSent) {
      response.raw.destroy();
      return;
    }
    if (exception instanceof InvalidSignatureError) {
      refusedWith('INVALID_SIGNATURE');
      void response.status(401).type('text/plain; charset=utf-8').send(exception.message);
      return;
    }
    if (exception instanceof ServiceUnavailableException) {
      // What the health check found; it names no host.
      void response.status(503).send(exception.getResponse());
      return;
    }
    answerWith(exception instanceof CroupierError ? exception : this.translated(exception), response);
  }

  private translated(exception: unknown): CroupierError {
    const status = exception instanceof HttpException ? exception.getStatus() : httpStatusOf(exception);
    // What the framework refuses by itself is an unknown route.
    if (status >= 400 && status < 500) return new CroupierError('NOT_FOUND');
    this.logger.error(exception);
    return new CroupierError('INTERNAL');
  }
}

function httpStatusOf(exception: unknown): number {
  const status = (exception as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}

/** Answers an error as the contract has it. */
export function answerWith(error: CroupierError, reply: FastifyReply): void {
  const { status, nextAction } = CATALOGUE[error.code];
  refusedWith(error.code);
  void reply
    .status(status)
    .headers({ 'X-Error-Code': error.code, 'X-Next-Action': nextAction, ...error.headers })
    .type('application/json; charset=utf-8')
    .send({ error: error.message });
}
