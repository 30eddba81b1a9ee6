import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { EXIT, paint, secretFrom, type Terminal, UsageError, wholeNumber } from '../terminal.js';
import { type Diagnosis, diagnose } from './diagnosis.js';
import { visible, visibleLine } from './visible.js';

export const DEBUG_SIGNATURE_HELP = `croupier-provider debug-signature --path PATH [options]

Says why a signature is refused: what should have been signed, the first byte that
differs, and the likely cause. The secret is taken from CROUPIER_SECRET.

  --path PATH          the request target as it was sent, base path and query included
  --method METHOD      default: POST
  --header 'N: VALUE'  a header as it was sent; once for each
  --headers-file FILE  the same, one on each line, as curl -v prints them
  --body-file FILE     the bytes that were sent; default: none
  --tenant ID          what X-Tenant-ID should be
  --now SECONDS        Unix time at which it arrived; default: now
  --tolerance SECONDS  default: 300
  --signed-file FILE   the bytes that you signed, to be compared

Exit status: 0 the signature holds, 1 it does not, 2 the command cannot be carried out.`;

const OPTIONS = {
  path: { type: 'string' },
  method: { type: 'string', default: 'POST' },
  header: { type: 'string', multiple: true, default: [] as string[] },
  'headers-file': { type: 'string' },
  'body-file': { type: 'string' },
  tenant: { type: 'string' },
  now: { type: 'string' },
  tolerance: { type: 'string', default: '300' },
  'signed-file': { type: 'string' },
} as const;

/** @throws UsageError, or what parseArgs throws, when the arguments cannot be used */
export async function debugSignature(args: string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  if (values.path === undefined) throw new UsageError('--path is missing.');
  const secret = secretFrom(terminal);
  const lines = values['headers-file']
    ? (await fileOf(values['headers-file'])).toString().split(/\r?\n/)
    : [];
  const signedFile = values['signed-file'];
  const diagnosis = diagnose({
    method: values.method,
    path: values.path,
    headers: [...lines, ...values.header].flatMap(headerIn),
    body: values['body-file'] ? await fileOf(values['body-file']) : Buffer.alloc(0),
    secret,
    tenantId: values.tenant,
    now: values.now === undefined ? Math.floor(terminal.now() / 1000) : wholeNumber('now', values.now, 0),
    toleranceSeconds: wholeNumber('tolerance', values.tolerance, 0),
    claimedBytes: signedFile === undefined ? undefined : await fileOf(signedFile),
  });
  terminal.print(report(diagnosis, terminal));
  return diagnosis.reason === undefined ? EXIT.ok : EXIT.failed;
}

/** A header of a line, if there is one: curl puts a sign in front, and the request line has no colon after a name. */
function headerIn(line: string): [string, string][] {
  const [, name, value = ''] = /^(?:>\s*)?([A-Za-z0-9-]+):(.*)$/.exec(line) ?? [];
  return name === undefined ? [] : [[name, withoutSurroundingBlanks(value)]];
}

/** RFC 9112: only spaces and tabs around a header's value are not part of it. */
function withoutSurroundingBlanks(value: string): string {
  return value.replace(/^[ \t]+/, '').replace(/(?<![ \t])[ \t]+$/, '');
}

async function fileOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

function report(diagnosis: Diagnosis, terminal: Terminal): string {
  const { reason, canonical, signature, sent, causes, difference } = diagnosis;
  const title = (text: string) => paint(terminal, 'bold', text);
  const verdict =
    reason === undefined
      ? paint(terminal, 'green', 'the signature holds')
      : paint(terminal, 'red', `refused: ${reason}`);
  const lines = [
    title(`What has to be signed, ${canonical.length} bytes`),
    visible(canonical).replaceAll(/^/gm, '  '),
    '',
    `${title('X-Signature, right')}  ${signature}`,
    `${title('X-Signature, sent ')}  ${sent.signature || '(none)'}`,
    `${title('Verdict')}             ${verdict}`,
  ];
  if (difference) {
    const shown = (bytes: Buffer) =>
      bytes.length === 0 ? '(the end)' : `${hex(bytes[0])} ${visibleLine(bytes)}`;
    lines.push(
      '',
      title(`First differing byte: ${difference.offset} (${difference.place})`),
      `  right   ${shown(difference.right)}`,
      `  signed  ${shown(difference.wrong)}`,
    );
  }
  if (causes.length > 0) lines.push('', title('Likely cause'), ...causes.map((cause) => `  ${cause}`));
  return lines.join('\n');
}

function hex(byte: number | undefined): string {
  return `0x${(byte ?? 0).toString(16).padStart(2, '0')}`;
}
