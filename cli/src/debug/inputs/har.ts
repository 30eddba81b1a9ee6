import { UsageError } from '../../terminal.js';
import { type DescribedRequest, targetOf, withHost } from './described-request.js';

interface HarRequest {
  method: string;
  url: string;
  headers: { name: string; value: string }[];
  postData?: { text?: string; encoding?: string };
}

/**
 * Reads a request from the text of a HAR file, of one of its entries, or of the request in an entry.
 * @param index the entry, from 0
 * @throws UsageError if there is no such request
 */
export function requestOfHar(text: string, index: number): DescribedRequest {
  const { request, startedAt } = entryOf(json(text), index);
  const { path, host } = targetOf(request.url);
  // Leaves out the pseudo-headers of HTTP/2, whose names begin with a colon.
  const headers = request.headers
    .filter(({ name }) => !name.startsWith(':'))
    .map(({ name, value }): [string, string] => [name, value]);
  const { text: body = '', encoding } = request.postData ?? {};
  return {
    method: request.method,
    path,
    headers: withHost(headers, host),
    body: Buffer.from(body, encoding === 'base64' ? 'base64' : 'utf8'),
    sentAt: startedAt,
  };
}

function entryOf(value: unknown, index: number): { request: HarRequest; startedAt: number | undefined } {
  const { log, request, startedDateTime } = value as {
    log?: { entries?: unknown[] };
    request?: unknown;
    startedDateTime?: string;
  };
  if (log?.entries) {
    const entry = log.entries[index];
    if (entry === undefined) {
      throw new UsageError(`The HAR file has ${log.entries.length} entries, and no entry ${index}.`);
    }
    return entryOf(entry, 0);
  }
  const candidate = request ?? value;
  if (!isRequest(candidate))
    throw new UsageError('The HAR file has no request with method, url and headers.');
  const startedMs = Date.parse(startedDateTime ?? '');
  return {
    request: candidate,
    startedAt: Number.isNaN(startedMs) ? undefined : Math.floor(startedMs / 1000),
  };
}

function isRequest(value: unknown): value is HarRequest {
  if (typeof value !== 'object' || value === null) return false;
  const { method, url, headers } = value as Record<string, unknown>;
  return typeof method === 'string' && typeof url === 'string' && Array.isArray(headers);
}

function json(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The UsageError below reports it.
  }
  throw new UsageError('The HAR file is not JSON.');
}
