import { visibleText } from '@croupier/provider-sdk';
import { createReadStream } from 'node:fs';
import { parseArgs } from 'node:util';
import { EXIT, type Terminal, UsageError } from '../terminal.js';
import { optionsLine } from './reports/run.js';
import { type Verification, verifyCertificate as verify } from './reports/verify.js';

export const VERIFY_CERTIFICATE_HELP = `croupier-provider verify-certificate FILE

Checks that a certificate is as the certification wrote it. FILE is what --json or --html has
written, or - for the standard input. The digest shows whether the certificate was changed
since. It does not show who wrote it: whoever changes a certificate on purpose can compute its
digest again. To be sure, run the certification yourself, or compare the digest with one that
you received in another way.

Exit status: 0 the certificate is unchanged, 1 it was changed or is not a certificate, 2 the
command cannot be carried out.`;

/** The name of the standard input on a command line. */
const STANDARD_INPUT = '-';

/** The largest file that is read, in bytes. A certificate has about 100 kB. */
const MAX_BYTES = 16 * 1024 * 1024;

/** @throws UsageError if no file is named, or it cannot be read */
export async function verifyCertificate(args: string[], terminal: Terminal): Promise<number> {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true });
  const [path, ...others] = positionals;
  if (path === undefined || others.length > 0) throw new UsageError('Name one file with a certificate.');
  const bytes = await read(path);
  const name = visibleText(path);
  const verification = bytes.length > MAX_BYTES ? TOO_LARGE : verify(textOf(bytes));
  if (!verification.ok) {
    terminal.print(`${name} ${verification.why}`);
    return EXIT.failed;
  }
  terminal.print(`${name} is unchanged since it was written.\n${summary(verification)}`);
  return EXIT.ok;
}

const TOO_LARGE: Verification = {
  ok: false,
  why: `is not a certificate: it has more than ${MAX_BYTES} bytes.`,
};

function summary({ certificate, digest }: Extract<Verification, { ok: true }>): string {
  const { certification, version, tenantId, startedAt, certified, restartsTested, counts } = certificate;
  const { options, weakenedOptions } = certificate;
  const address = certificate['webhookBaseUrl'] ?? certificate['walletBaseUrl'] ?? certificate['command'];
  const outcomes = Object.entries(Object(counts) as object).map(([kind, count]) => `${count} ${kind}`);
  const facts = {
    Certification: `croupier-provider ${text(certification)}, version ${text(version)}`,
    Tenant: text(tenantId),
    Address: text(address),
    Date: text(startedAt),
    ...(options !== undefined && { Options: optionsLine(Object(options) as Record<string, string>) }),
    Cases: outcomes.join(', '),
    Result: certified === true ? 'certified' : 'not certified, or not completely',
    ...(typeof restartsTested === 'boolean' && { Restarts: restartsTested ? 'tested' : 'not tested' }),
    ...(Array.isArray(weakenedOptions) &&
      weakenedOptions.length > 0 && { 'Weakened by': `--${weakenedOptions.join(', --')}` }),
    'SHA-256': digest,
  };
  const lines = Object.entries(facts).map(([term, fact]) => `  ${term.padEnd(14)} ${visibleText(fact)}`);
  return [...lines, 'The digest does not show who wrote the certificate.'].join('\n');
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : 'unknown';
}

/** The text of the file; bytes that are not UTF-8 cannot be those of a certificate. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return '';
  }
}

/** Reads a file or pipe, until it ends or has more than `MAX_BYTES`. */
async function read(path: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    const stream = path === STANDARD_INPUT ? process.stdin : createReadStream(path);
    for await (const piece of stream as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length > MAX_BYTES) break;
    }
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
  return Buffer.concat(pieces);
}
