import { firstValue } from '../header-mistakes.js';
import type { CauseCode } from '../causes.js';
import { type Rank, type Signing, type Variant, variant } from '../signing.js';

/** Methods, timestamps and nonces that a signer may sign instead of those sent, each in a list of its own. */
export function headerVariants(
  right: Pick<Signing, 'method' | 'timestamp' | 'nonce'>,
  headers: readonly (readonly [name: string, value: string])[],
): Variant[][] {
  return [methods(right.method), timestamps(right.timestamp, headers), nonces(right.nonce, headers)];
}

function methods(method: string): Variant[] {
  const of = (rank: Rank, code: CauseCode, explanation: string, signed: string) =>
    variant(rank, code, explanation, { method: signed });
  const capitalised = method.charAt(0) + method.slice(1).toLowerCase();
  return [
    ...[method.toLowerCase(), capitalised].map((signed) =>
      of(1, 'method-case', `The method was signed as "${signed}". Sign it in upper case.`, signed),
    ),
    ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].map((signed) =>
      of(1, 'method-other', `The method ${signed} was signed, and ${method} was sent.`, signed),
    ),
    of(2, 'method-empty', 'An empty method was signed.', ''),
    ...['undefined', 'null', 'get', 'put', 'Get'].map((signed) =>
      of(2, 'method-other', `"${signed}" was signed instead of the method.`, signed),
    ),
  ];
}

function timestamps(sent: string, headers: readonly (readonly [name: string, value: string])[]): Variant[] {
  const of = (rank: Rank, code: CauseCode, explanation: string, timestamp: string) =>
    variant(rank, code, explanation, { timestamp });
  const milliseconds =
    'The timestamp was signed in milliseconds and sent in seconds. Sign the text that is sent.';
  const fraction = 'The timestamp was signed with a fraction that was not sent. Sign the text that is sent.';
  const seconds = Number(sent);
  if (!/^\d{1,13}$/.test(sent)) {
    const [whole = ''] = /^\d*/.exec(sent) ?? [];
    return [
      of(
        1,
        'timestamp-fraction',
        'The timestamp was signed in whole seconds, but sent with a fraction or suffix. Send whole seconds.',
        whole,
      ),
    ];
  }
  const thousandths = Array.from({ length: 1000 }, (_, index) => String(index).padStart(3, '0'));
  const hundredths = Array.from({ length: 100 }, (_, index) => String(index).padStart(2, '0'));
  const differs = (offset: number) =>
    `The signed timestamp is ${Math.abs(offset)} s ${offset > 0 ? 'later' : 'earlier'} than the one sent. Take the time once and use it for both.`;
  const offsets = Array.from({ length: 60 }, (_, index) => index + 1).flatMap((offset) => [-offset, offset]);
  const zones = Array.from({ length: 56 }, (_, index) => (index + 1) / 4).flatMap((hours) => [-hours, hours]);
  const dates = [Date.parse(firstValue(headers, 'date')), seconds * 1000].filter(
    (ms) => !Number.isNaN(ms) && ms < 8.64e15,
  );
  const texts = dates.flatMap((ms) => {
    const iso = new Date(ms).toISOString();
    return [
      iso,
      iso.replace('.000', ''),
      iso.slice(0, 19),
      iso.slice(0, 19).replace('T', ' '),
      new Date(ms).toUTCString(),
    ];
  });
  return [
    of(1, 'timestamp-milliseconds', milliseconds, `${sent}000`),
    of(
      1,
      'timestamp-milliseconds',
      'The timestamp was signed in seconds and sent in milliseconds.',
      sent.slice(0, -3),
    ),
    of(2, 'timestamp-milliseconds', 'The timestamp was signed in micro- or nanoseconds.', `${sent}000000`),
    of(2, 'timestamp-milliseconds', 'The timestamp was signed in micro- or nanoseconds.', `${sent}000000000`),
    ...offsets.map((offset) =>
      of(Math.abs(offset) <= 5 ? 1 : 3, 'timestamp-differs', differs(offset), String(seconds + offset)),
    ),
    ...['.0', '.00', '.000', '.000000'].map((end) => of(1, 'timestamp-fraction', fraction, sent + end)),
    of(1, 'timestamp-empty', 'An empty timestamp was signed.', ''),
    ...texts.map((text) =>
      of(1, 'timestamp-text', `The timestamp was signed as "${text}". Sign the text that is sent.`, text),
    ),
    ...zones.map((hours) =>
      of(
        3,
        'timestamp-time-zone',
        `The signed timestamp is ${Math.abs(hours)} h off: a local time was taken for UTC.`,
        String(seconds + hours * 3600),
      ),
    ),
    ...thousandths.flatMap((digits) => [
      of(3, 'timestamp-milliseconds', milliseconds, sent + digits),
      of(3, 'timestamp-milliseconds', milliseconds, String(seconds - 1) + digits),
      of(3, 'timestamp-fraction', fraction, `${sent}.${digits}`),
    ]),
    ...hundredths.map((digits) => of(3, 'timestamp-fraction', fraction, `${sent}.${digits}`)),
    ...hundredths
      .slice(0, 10)
      .map((digits) => of(3, 'timestamp-fraction', fraction, `${sent}.${digits.slice(1)}`)),
    ...[seconds.toExponential().replace('e+', 'E'), `0${sent}`, `+${sent}`, `"${sent}"`].map((text) =>
      of(2, 'timestamp-text', `The timestamp was signed as ${text}. Sign the text that is sent.`, text),
    ),
    ...['undefined', 'null', 'NaN'].map((text) =>
      of(2, 'timestamp-text', `The timestamp was signed as "${text}".`, text),
    ),
    of(
      2,
      'timestamp-text',
      'The timestamp was signed in whole minutes or hexadecimal digits.',
      String(Math.floor(seconds / 60)),
    ),
    of(
      2,
      'timestamp-text',
      'The timestamp was signed in whole minutes or hexadecimal digits.',
      seconds.toString(16),
    ),
    of(2, 'timestamp-whitespace', 'The timestamp was signed with whitespace.', ` ${sent}`),
    of(2, 'timestamp-whitespace', 'The timestamp was signed with whitespace.', `${sent} `),
    of(2, 'timestamp-whitespace', 'The timestamp was signed with whitespace.', `${sent}\n`),
  ];
}

function nonces(sent: string, headers: readonly (readonly [name: string, value: string])[]): Variant[] {
  const of = (rank: Rank, code: CauseCode, explanation: string, nonce: string) =>
    variant(rank, code, explanation, { nonce });
  const dashed = sent.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const dashes = 'The nonce was signed with other dashes or braces than it was sent with.';
  const others = headers.filter(([, value]) => value !== '' && value !== sent);
  return [
    ...[sent.toLowerCase(), sent.toUpperCase()].map((nonce) =>
      of(1, 'nonce-case', 'The nonce was signed in other letter case than it was sent in.', nonce),
    ),
    of(1, 'nonce-empty', 'An empty nonce was signed.', ''),
    ...[
      sent.replaceAll('-', ''),
      dashed,
      `{${sent}}`,
      dashed.toUpperCase(),
      sent.replaceAll('-', '').toUpperCase(),
    ].map((nonce) => of(1, 'nonce-dashes', dashes, nonce)),
    ...others.map(([name, value]) =>
      of(2, 'nonce-other-header', `The value of ${name} was signed instead of the nonce.`, value.trim()),
    ),
    ...[` ${sent}`, `${sent} `, `${sent}\n`].map((nonce) =>
      of(2, 'nonce-whitespace', 'The nonce was signed with whitespace.', nonce),
    ),
    ...[`"${sent}"`, `'${sent}'`].map((nonce) =>
      of(2, 'nonce-quoted', 'The nonce was signed in quotation marks.', nonce),
    ),
    ...[
      Buffer.from(sent).toString('base64'),
      Buffer.from(sent).toString('hex'),
      Buffer.from(sent, 'hex').toString('base64'),
      Buffer.from(sent, 'base64').toString('hex'),
      encodeURIComponent(sent),
    ].map((nonce) =>
      of(2, 'nonce-encoded', 'The nonce was signed in another encoding than it was sent in.', nonce),
    ),
    ...['undefined', 'null'].map((nonce) =>
      of(2, 'nonce-empty', `The nonce was signed as "${nonce}".`, nonce),
    ),
    ...neighbours(sent).map((nonce) =>
      of(2, 'nonce-differs', 'The nonce that was signed is the one before or after the one sent.', nonce),
    ),
  ];
}

/** For a nonce that is a counter: the two nonces before it and the two after it. */
function neighbours(nonce: string): string[] {
  const [, head = '', digits] = /^(.*\D|)(\d{1,15})$/.exec(nonce) ?? [];
  if (digits === undefined) return [];
  return [-1, 1, -2, 2].map(
    (offset) => head + String(Math.max(0, Number(digits) + offset)).padStart(digits.length, '0'),
  );
}
