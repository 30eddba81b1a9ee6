import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { refusedWith } from '../observability/trace.js';
import { cutOff } from '../api/cut-off.js';
import { answerWith, writeAnswer } from '../api/error-answer.js';
import { CroupierError, InvalidSignatureError } from '../errors/croupier-error.js';

/**
 * Answers every error in the contract's form: `{"error": message}`, `X-Error-Code`, `X-Next-Action`. Only an invalid
 * signature is answered in plain text. Contract, section 2.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Error');

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<ServerResponse>();
    if (response.headersSent) {
      this.logger.error(exception);
      return cutOff(response);
    }
    if (exception instanceof InvalidSignatureError) {
      refusedWith('INVALID_SIGNATURE');
      writeAnswer(response, 401, 'text/plain; charset=utf-8', exception.message);
      return;
    }
    answerWith(exception instanceof CroupierError ? exception : this.translate(exception), response);
  }

  private translate(exception: unknown): CroupierError {
    const status = exception instanceof HttpException ? exception.getStatus() : httpStatusOf(exception);
    // The framework itself refuses only unknown routes and methods.
    if (status >= 400 && status < 500) return new CroupierError('NOT_FOUND');
    this.logger.error(exception);
    return new CroupierError('INTERNAL');
  }
}

function httpStatusOf(exception: unknown): number {
  const status = (exception as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}
