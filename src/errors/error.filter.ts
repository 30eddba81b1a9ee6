import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Logger,
  ServiceUnavailableException,
} from '@nestjs/common';
import type { Response } from 'express';
import { CATALOGUE, type ErrorCode } from './catalogue.js';
import { CroupierError, InvalidSignatureError } from './croupier-error.js';

/** Makes every error the contract's shape: `{"error": message}`, `X-Error-Code`, `X-Next-Action`. Section 2. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Error');

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (exception instanceof InvalidSignatureError) {
      response.locals['outcome'] = 'INVALID_SIGNATURE';
      response.status(401).type('text/plain; charset=utf-8').send(exception.message);
      return;
    }
    if (exception instanceof ServiceUnavailableException) {
      // What the health check found; it names no host.
      response.status(503).json(exception.getResponse());
      return;
    }
    const error = exception instanceof CroupierError ? exception : this.translated(exception);
    const { status, nextAction } = CATALOGUE[error.code];
    response.locals['outcome'] = error.code;
    response
      .status(status)
      .set({ 'X-Error-Code': error.code, 'X-Next-Action': nextAction, ...error.headers })
      .type('application/json; charset=utf-8')
      .json({ error: error.message });
  }

  private translated(exception: unknown): CroupierError {
    const status = exception instanceof HttpException ? exception.getStatus() : httpStatusOf(exception);
    const code = CODES.get(status);
    if (code) return new CroupierError(code);
    this.logger.error(exception);
    return new CroupierError('INTERNAL');
  }
}

/** What the framework itself refuses: a path that cannot be decoded, and so is on no route, and an unknown route. */
const CODES = new Map<number, ErrorCode>([
  [400, 'NOT_FOUND'],
  [404, 'NOT_FOUND'],
]);

function httpStatusOf(exception: unknown): number {
  const status = (exception as { status?: unknown } | null)?.status;
  return typeof status === 'number' ? status : 500;
}
