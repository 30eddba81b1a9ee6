import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { EXIT, secretFrom, type Terminal, UsageError, wholeNumber } from '../terminal.js';
import { diagnose, type SentRequest } from './diagnosis.js';
import { requestOfCurl } from './inputs/curl.js';
import { requestOfHar } from './inputs/har.js';
import { type DescribedRequest, targetOf, withHost } from './inputs/described-request.js';
import { jsonReport, requestIdAdvice, report } from './report.js';
import type { SearchLimits } from './search.js';

export const DEBUG_SIGNATURE_HELP = `croupier-provider debug-signature --path PATH [options]

Explains why a signature is refused: what should have been signed, the first byte that
differs, and the causes, each with a stable code. CROUPIER_SECRET holds the secret.

The request, in one of three ways:
  --path PATH          the request target as it was sent, base path and query included;
                       or the whole address
  --method METHOD      default: POST
  --header 'N: VALUE'  a header as it was sent; once for each
  --headers-file FILE  the same, one on each line, as curl -v prints them
  --body-file FILE     the bytes that were sent; default: none

  --curl-file FILE     a curl command line, as browsers and API tools copy it
  --read-data-files    also reads the files that it names, as in -d @FILE; check these names
                       first if the command line is not your own
  --har-file FILE      a HAR file, an entry of one, or the request of an entry
  --entry N            which entry of the HAR file, from 0; default: 0

Its receiver:
  --tenant ID          what X-Tenant-ID should be
  --now SECONDS        Unix time at which it arrived; default: that of the HAR entry, or now
  --tolerance SECONDS  default: 300

More:
  --signed-file FILE   the bytes that you signed, to be compared
  --request-id ID      the X-Request-Id of the refused request: explains what to do with it
  --search-seconds N   how long to search, in seconds of processor time; default: 2
  --json               prints the result as JSON

The right signature is shown only if the timestamp of the request is long past. Until then, anyone
who chose the timestamp and the nonce could send the request with it.

Exit status: 0 the signature is valid, 1 it is not, 2 the command cannot be carried out.`;

const OPTIONS = {
  path: { type: 'string' },
  method: { type: 'string', default: 'POST' },
  header: { type: 'string', multiple: true, default: [] as string[] },
  'headers-file': { type: 'string' },
  'body-file': { type: 'string' },
  'curl-file': { type: 'string' },
  'read-data-files': { type: 'boolean', default: false },
  'har-file': { type: 'string' },
  entry: { type: 'string', default: '0' },
  tenant: { type: 'string' },
  now: { type: 'string' },
  tolerance: { type: 'string', default: '300' },
  'signed-file': { type: 'string' },
  'request-id': { type: 'string' },
  'search-seconds': { type: 'string', default: '2' },
  json: { type: 'boolean', default: false },
} as const;

/** A day, as for the platform's own tolerance. */
const MOST_TOLERANCE_SECONDS = 86_400;
/** An hour. */
const MOST_SEARCH_SECONDS = 3_600;
/** More entries than a HAR file has. */
const MOST_ENTRY = 999_999;
/** The largest number that X-Timestamp may have, with 12 digits. The current time in milliseconds is larger. */
const MOST_UNIX_SECONDS = 999_999_999_999;

type Values = ReturnType<typeof parseArgs<{ args: string[]; options: typeof OPTIONS }>>['values'];

/** @throws UsageError, or what parseArgs throws, if the command cannot be carried out */
export async function debugSignature(args: string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  const request = await requestOf(values);
  const requestId = values['request-id'];
  if (!request) {
    if (requestId === undefined) throw new UsageError('--path is missing, or --curl-file or --har-file.');
    terminal.print(requestIdAdvice(requestId));
    return EXIT.ok;
  }
  const signedFile = values['signed-file'];
  const sent: SentRequest = {
    ...request,
    secret: secretFrom(terminal),
    tenantId: values.tenant,
    now: arrival(values.now, request, terminal),
    diagnosedAt: secondsOf(terminal),
    toleranceSeconds: wholeNumber('tolerance', values.tolerance, 0, MOST_TOLERANCE_SECONDS),
    claimedBytes: signedFile === undefined ? undefined : await fileOf(signedFile),
  };
  const diagnosis = diagnose(
    sent,
    limitsOf(wholeNumber('search-seconds', values['search-seconds'], 1, MOST_SEARCH_SECONDS), terminal),
  );
  terminal.progress?.('');
  terminal.print(values.json ? jsonReport(diagnosis, requestId) : report(diagnosis, requestId, terminal));
  return diagnosis.reason === undefined ? EXIT.ok : EXIT.failed;
}

/** The share of the time that the search may use: Node's start and the report need the rest. */
const SHARE_OF_SEARCH = 0.8;
/** Time between two lines of progress, in milliseconds. */
const PROGRESS_INTERVAL_MS = 100;

function limitsOf(seconds: number, { usedMs, progress }: Terminal): SearchLimits {
  let shownMs = 0;
  return {
    usedMs,
    deadlineMs: usedMs() + seconds * 1000 * SHARE_OF_SEARCH,
    onProgress: (tried) => {
      if (usedMs() - shownMs < PROGRESS_INTERVAL_MS) return;
      shownMs = usedMs();
      progress?.(`Searching for the mistake: ${tried.toLocaleString('en')} ways to sign tried`);
    },
  };
}

async function requestOf(values: Values): Promise<DescribedRequest | undefined> {
  const curl = values['curl-file'];
  const har = values['har-file'];
  if ([curl, har, values.path].filter((given) => given !== undefined).length > 1) {
    throw new UsageError('Give one of --path, --curl-file and --har-file.');
  }
  if (curl !== undefined) {
    return requestOfCurl(await textOf(curl), values['read-data-files'] ? fileOf : unread);
  }
  if (har !== undefined) {
    return requestOfHar(await textOf(har), wholeNumber('entry', values.entry, 0, MOST_ENTRY));
  }
  if (values.path === undefined) return undefined;
  const file = values['headers-file'];
  const inFile = file === undefined ? [] : headersOf(file, await textOf(file));
  const headers = [...inFile, ...values.header.flatMap(headerIn)];
  const isAddress = /^https?:\/\//i.test(values.path);
  const { path, host } = isAddress ? targetOf(values.path) : { path: values.path, host: undefined };
  return {
    method: values.method,
    path,
    headers: withHost(headers, host),
    body: values['body-file'] === undefined ? Buffer.alloc(0) : await fileOf(values['body-file']),
  };
}

function arrival(now: string | undefined, { sentAt }: DescribedRequest, terminal: Terminal): number {
  if (now !== undefined) return wholeNumber('now', now, 0, MOST_UNIX_SECONDS);
  return sentAt ?? secondsOf(terminal);
}

function secondsOf({ now }: Terminal): number {
  return Math.floor(now() / 1000);
}

/** Lines of a file of headers that are no header of the request. */
const OTHER_LINES = [
  /^>?\s*$/,
  // A request line or a status line.
  /^(?:>\s*)?[A-Za-z]+ \S.* HTTP\/\d/,
  /^(?:>\s*)?HTTP\/\d/,
  // The other lines of curl -v: about the connection, the response, and the size of the data.
  /^[*<]/,
  /^[{}] \[/,
  // A pseudo-header of HTTP/2, as browsers show it.
  /^:[a-z]+:/,
];
/** How much of a line an error shows, in characters. */
const MOST_SHOWN = 100;

/** @throws UsageError for a line that is no header, such as one that lacks its colon: it would look like a missing header */
function headersOf(file: string, text: string): [string, string][] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const header = headerIn(line);
    if (header.length > 0 || OTHER_LINES.some((pattern) => pattern.test(line))) return header;
    throw new UsageError(
      `Line ${index + 1} of ${file} is not a header, a request line or a status line: "${line.slice(0, MOST_SHOWN)}".`,
    );
  });
}

/**
 * Returns the header on a line, with or without the `>` of `curl -v`; nothing if the line is not a header. A request
 * line does not match, because a space follows its first word, not a colon.
 */
function headerIn(line: string): [string, string][] {
  const [, name, value = ''] = /^(?:>\s*)?([A-Za-z0-9_.-]+):(.*)$/.exec(line) ?? [];
  return name === undefined ? [] : [[name, withoutSurroundingBlanks(value)]];
}

/** Removes spaces and tabs only: by RFC 9112, other whitespace belongs to the header's value. */
function withoutSurroundingBlanks(value: string): string {
  return value.replace(/^[ \t]+/, '').replace(/(?<![ \t])[ \t]+$/, '');
}

/** The text of a file, without the byte order mark that editors on Windows put before it. */
async function textOf(path: string): Promise<string> {
  return new TextDecoder().decode(await fileOf(path));
}

async function fileOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Refuses the files of a command line that a stranger may have written. */
function unread(path: string): Promise<Buffer> {
  const refusal = new UsageError(
    `The curl command line sends the file "${path}". If it may be read, repeat the command with --read-data-files.`,
  );
  return Promise.reject(refusal);
}
