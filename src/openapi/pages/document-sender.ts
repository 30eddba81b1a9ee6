import type { Request, Response } from 'express';
import helmet from 'helmet';
import { answerWith } from '../../api/error-answer.js';
import { headersOf } from '../../api/security-headers.js';
import { rateLimited } from '../../errors/try-later.js';
import { monotonicMs } from '../../runtime/clock.js';
import { CountingWindows } from '../../runtime/counting-windows.js';
import { networkOf } from '../../runtime/network.js';
import type { Representation } from './representation.js';

/**
 * Maximum number of requests of a network in a window. A page takes eight requests, so an office behind one address can
 * load 60 pages at once.
 */
const REQUESTS = 500;
const WINDOW_MS = 10_000;

/** For an asset whose address changes with its content: it may be cached for a year. */
export const UNCHANGING = { 'cache-control': 'public, max-age=31536000, immutable' };

/**
 * The header that allows only scripts from this origin and calls to it.
 * @param allowed what else a page may use
 */
export function contentSecurity(allowed: { styles?: string[]; calls?: string[] }): Record<string, string> {
  return headersOf(
    helmet.contentSecurityPolicy({
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", ...(allowed.styles ?? [])],
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'", ...(allowed.calls ?? [])],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    }),
  );
}

/**
 * Sends documents that need no credentials. It limits how often a network (`networkOf`) may load them, so that these
 * requests cannot overload the service.
 */
export class DocumentSender {
  private readonly windows = new CountingWindows(monotonicMs);

  constructor(private readonly headers: Readonly<Record<string, string>>) {}

  send(request: Request, response: Response, document: Representation, caching: object = {}): void {
    const window = this.windows.currentOrNew(networkOf(request.ip ?? ''), WINDOW_MS);
    if (window.count >= REQUESTS) return answerWith(rateLimited(this.windows.secondsLeft(window)), response);
    window.count += 1;
    const { status, headers, body } = document.answer(request);
    response.writeHead(status, { ...this.headers, ...headers, ...caching }).end(body);
  }
}
