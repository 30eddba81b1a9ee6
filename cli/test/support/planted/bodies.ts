import { createHash } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { hex, kind, pick, type PlantedMistake } from './call.js';
import { escaped, python, rewritten } from './json.js';

const RICH = { body: 'rich' } as const;
export const BODIES: readonly PlantedMistake[] = [
  kind('byte order mark signed', 'body-bom', ({ body }) => ({ parts: { body: `\ufeff${body}` } })),
  kind('byte order mark sent', 'body-bom', ({ body }) => ({ sent: { body: `\ufeff${body}` } })),
  kind('newline sent', ['body-end-not-signed', 'body-trimmed'], ({ body }) => ({
    sent: { body: `${body}\n` },
  })),
  kind('newline signed', 'newline-at-end', ({ body }) => ({ parts: { body: `${body}\n` } })),
  kind('space signed', 'newline-at-end', ({ body }) => ({ parts: { body: `${body} ` } })),
  kind('CRLF sent, LF signed', 'body-line-ends', ({ body }) => {
    const pretty = JSON.stringify(JSON.parse(body), null, 2);
    return { parts: { body: pretty }, sent: { body: pretty.replaceAll('\n', '\r\n') } };
  }),
  kind('NFD signed', 'body-unicode-form', ({ body }) => ({ parts: { body: body.normalize('NFD') } }), RICH),
  kind(
    'Latin-1 signed',
    ['body-latin1', 'body-utf8-twice'],
    ({ body }) => ({ parts: { body: Buffer.from(body, 'latin1') } }),
    RICH,
  ),
  kind('UTF-16 signed', 'body-utf16', ({ body }) => ({ parts: { body: Buffer.from(body, 'utf16le') } })),
  kind(
    'UTF-8 twice',
    'body-utf8-twice',
    ({ body }) => ({
      parts: { body: Buffer.from(Buffer.from(body).toString('latin1')) },
    }),
    RICH,
  ),
  kind('gzip signed', 'body-compressed', ({ body }) => ({ parts: { body: gzipSync(body) } })),
  kind('gzip sent', 'body-compressed', ({ body }) => ({ sent: { body: gzipSync(body) } })),
  kind('deflate signed', 'body-compressed', ({ body }) => ({ parts: { body: deflateSync(body) } })),
  ...[1, 2, 3, 4, 8, '\t'].map((indent) =>
    kind(`indented by ${JSON.stringify(indent)}`, 'body-whitespace', ({ body }) => ({
      parts: { body: JSON.stringify(JSON.parse(body), null, indent) },
    })),
  ),
  kind('indentation sent', 'body-whitespace', ({ body }) => ({
    sent: { body: JSON.stringify(JSON.parse(body), null, 2) },
  })),
  kind('as Python writes it', 'body-whitespace', ({ body }) => ({ parts: { body: python(body) } }), {
    body: 'plain',
  }),
  kind(
    'as Python writes it, with escapes',
    'body-whitespace+body-escapes',
    ({ body }) => ({ parts: { body: python(body) } }),
    RICH,
  ),
  kind(
    'keys sorted',
    'body-key-order',
    ({ body }) => {
      const entries = Object.entries(JSON.parse(body) as object).sort(([a], [b]) => (a < b ? -1 : 1));
      return { parts: { body: JSON.stringify(Object.fromEntries(entries)) } };
    },
    { body: 'plain' },
  ),
  kind(
    'escapes of Go',
    'body-escapes',
    ({ body }) => ({
      parts: { body: rewritten(body, escaped(/[<>&]/g)) },
    }),
    RICH,
  ),
  kind(
    'escapes of .NET',
    'body-escapes',
    ({ body }) => ({
      parts: {
        body: rewritten(body, (json) =>
          escaped(/[&'+<>\u0080-\uffff]/g, true)(json).replaceAll('\\"', '\\u0022'),
        ),
      },
    }),
    RICH,
  ),
  kind(
    'escapes of Gson',
    'body-escapes',
    ({ body }) => ({
      parts: { body: rewritten(body, escaped(/[<>&=']/g)) },
    }),
    RICH,
  ),
  kind(
    'escapes of PHP',
    'body-escapes',
    ({ body }) => ({
      parts: { body: rewritten(body, (json) => escaped(/[\u0080-\uffff]/g)(json).replaceAll('/', '\\/')) },
    }),
    RICH,
  ),
  kind(
    'Go, with its newline at the end',
    'body-escapes+newline-at-end',
    ({ body }) => ({
      parts: { body: `${rewritten(body, escaped(/[<>&]/g))}\n` },
    }),
    RICH,
  ),
  kind('numbers as text', 'body-numbers', ({ body }) => ({
    parts: { body: body.replaceAll(/([:[,])(\d+)(?=[,\]}])/g, '$1"$2"') },
  })),
  kind('numbers with .0', 'body-numbers', ({ body }) => ({
    parts: { body: body.replaceAll(/([:[,])(\d+)(?=[,\]}])/g, '$1$2.0') },
  })),
  kind(
    'nulls left out',
    'body-nulls',
    ({ body }) => ({
      parts: { body: body.replace('"currency":null,', '') },
    }),
    RICH,
  ),
  kind(
    'form encoded',
    'body-form-encoded',
    ({ body }) => ({
      parts: { body: new URLSearchParams(JSON.parse(body) as Record<string, string>).toString() },
    }),
    { body: 'plain' },
  ),
  kind('JSON of JSON', 'body-json-twice', ({ body }) => ({ parts: { body: JSON.stringify(body) } })),
  kind('digest of the body', 'body-digest', ({ body }) => ({ parts: { body: hex('sha256', body) } })),
  kind('MD5 of the body', 'body-digest', ({ body }) => ({ parts: { body: hex('md5', body) } })),
  kind('base64 of the body', 'body-encoded', ({ body }) => ({
    parts: { body: Buffer.from(body).toString('base64') },
  })),
  kind('empty body signed', 'body-empty', () => ({ parts: { body: '' } })),
  kind('object printed', 'body-placeholder', () => ({ parts: { body: '[object Object]' } })),
  kind(
    'dictionary of Python printed',
    'body-printed',
    ({ body }) => ({
      parts: { body: python(body).replaceAll('"', "'") },
    }),
    { body: 'plain' },
  ),
  ...['{}', 'null', '""', '[]', 'undefined', '[object Object]'].map((text) =>
    kind(`${text} for no body`, 'body-placeholder', () => ({ parts: { body: text } }), { body: 'none' }),
  ),
  kind(
    'one letter changed on the way',
    'unknown',
    ({ body }) => ({
      sent: { body: body.replace('bet-', 'win-') },
    }),
    { body: 'plain' },
  ),

  kind('newline in front signed', 'layout-before-body', ({ body }) => ({ parts: { body: `\n${body}` } })),
  kind('CRLF signed', 'newline-at-end', ({ body }) => ({ parts: { body: `${body}\r\n` } })),
  kind('spaces around sent', ['body-trimmed', 'body-end-not-signed'], ({ body }) => ({
    sent: { body: ` ${body} ` },
  })),
  kind(
    'NFC signed',
    'body-unicode-form',
    ({ body }) => ({
      parts: { body: body.normalize('NFC') },
      sent: { body: body.normalize('NFD') },
    }),
    RICH,
  ),
  kind(
    'Windows-1252 signed',
    'body-latin1',
    ({ body }) => {
      const [before = '', after = ''] = body.split('<vip>');
      return {
        parts: {
          body: Buffer.concat([
            Buffer.from(before, 'latin1'),
            Buffer.from([0x80]),
            Buffer.from(after, 'latin1'),
          ]),
        },
        sent: { body: `${before}€${after}` },
      };
    },
    RICH,
  ),
  kind('UTF-16 in big-endian order signed', 'body-utf16', ({ body }) => ({
    parts: { body: Buffer.from(body, 'utf16le').swap16() },
  })),
  kind(
    'question marks for what is not ASCII',
    'body-latin1',
    ({ body }) => ({
      parts: { body: body.replaceAll(/[^\0-\x7f]/g, '?') },
    }),
    RICH,
  ),
  kind('brotli sent', 'body-compressed', ({ body }) => ({ sent: { body: brotliCompressSync(body) } })),
  kind('gzip of the fastest level signed', 'body-compressed', ({ body }) => ({
    parts: { body: gzipSync(body, { level: 1 }) },
  })),
  kind('indented, with CRLF', 'body-whitespace', ({ body }) => ({
    parts: { body: JSON.stringify(JSON.parse(body), null, 2).replaceAll('\n', '\r\n') },
  })),
  kind('indented, with a newline at the end', 'body-whitespace+newline-at-end', ({ body }) => ({
    parts: { body: `${JSON.stringify(JSON.parse(body), null, 2)}\n` },
  })),
  kind('serialised again from a spacing of its own', 'body-whitespace', ({ body }) => ({
    sent: { body: body.replace(',', ' ,  ') },
  })),
  kind(
    'all whitespace removed',
    'body-whitespace',
    ({ body }) => ({
      parts: { body: body.replaceAll(' ', '') },
      sent: { body },
    }),
    RICH,
  ),
  kind(
    'keys in reverse order',
    'body-key-order',
    ({ body }) => ({
      parts: {
        body: JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body) as object).reverse())),
      },
    }),
    { body: 'plain' },
  ),
  kind(
    'keys in the order of a hash map',
    'body-key-order',
    ({ body }, random) => {
      const [a, b, c, d] = Object.entries(JSON.parse(body) as object);
      const orders = [
        [c, a, d, b],
        [b, d, a, c],
        [d, b, c, a],
        [b, a, d, c],
      ];
      return {
        parts: { body: JSON.stringify(Object.fromEntries(pick(random, orders) as [string, unknown][])) },
      };
    },
    { body: 'plain' },
  ),
  kind(
    'one key moved to the end',
    'body-key-order',
    ({ body }) => {
      const { playerRef, ...others } = JSON.parse(body) as Record<string, unknown>;
      return { parts: { body: JSON.stringify({ ...others, playerRef }) } };
    },
    RICH,
  ),
  kind(
    'keys sorted at all depths',
    'body-key-order',
    ({ body }) => {
      const sorted = (value: unknown): unknown =>
        typeof value !== 'object' || value === null || Array.isArray(value)
          ? value
          : Object.fromEntries(
              Object.entries(value)
                .sort(([a], [b]) => (a < b ? -1 : 1))
                .map(([key, each]) => [key, sorted(each)]),
            );
      return { parts: { body: JSON.stringify(sorted(JSON.parse(body))) } };
    },
    RICH,
  ),
  kind(
    'keys sorted, at the top only',
    'body-key-order',
    ({ body }) => {
      const entries = Object.entries(JSON.parse(body.replace('"id"', '"zid"')) as object).sort(([a], [b]) =>
        a < b ? -1 : 1,
      );
      return {
        parts: { body: JSON.stringify(Object.fromEntries(entries)) },
        sent: { body: body.replace('"id"', '"zid"') },
      };
    },
    RICH,
  ),
  kind(
    'slashes escaped, as Swift does',
    'body-escapes',
    ({ body }) => ({ parts: { body: body.replaceAll('/', '\\/') } }),
    RICH,
  ),
  kind(
    'escapes of Newtonsoft for non-ASCII',
    'body-escapes',
    ({ body }) => ({
      parts: { body: rewritten(body, escaped(/[\u0080-\uffff]/g)) },
    }),
    RICH,
  ),
  kind(
    'escapes of Rails',
    'body-escapes',
    ({ body }) => ({
      parts: { body: rewritten(body, escaped(/[<>&\u2028]/g)) },
    }),
    RICH,
  ),
  kind(
    'escapes sent, plain text signed',
    'body-escapes',
    ({ body }) => ({
      sent: { body: rewritten(body, escaped(/[\u0080-\uffff]/g)) },
    }),
    RICH,
  ),
  kind(
    'amount with two decimals',
    'body-numbers',
    ({ body }) => ({
      parts: { body: body.replace(/"amountMinor":(\d+)/, '"amountMinor":$1.00') },
    }),
    { body: 'plain' },
  ),
  kind(
    'amount alone as text',
    'body-numbers',
    ({ body }) => ({
      parts: { body: body.replace(/"amountMinor":(\d+)/, '"amountMinor":"$1"') },
    }),
    RICH,
  ),
  kind(
    'amount in major units',
    'body-numbers',
    ({ body }) => ({
      parts: {
        body: body.replace(
          /"amountMinor":(\d+)/,
          (_, minor: string) => `"amountMinor":${Number(minor) / 100}`,
        ),
      },
    }),
    { body: 'plain' },
  ),
  kind(
    '.0 sent, not signed',
    'body-numbers',
    ({ body }) => ({
      sent: { body: body.replace(/"amountMinor":(\d+)/, '"amountMinor":$1.0') },
    }),
    { body: 'plain' },
  ),
  kind(
    'nulls sent as empty text',
    'body-nulls',
    ({ body }) => ({
      parts: { body: body.replace(':null', ':""') },
    }),
    RICH,
  ),
  kind(
    'form encoding in sorted order',
    'body-form-encoded',
    ({ body }) => {
      const form = new URLSearchParams(JSON.parse(body) as Record<string, string>);
      form.sort();
      return { parts: { body: form.toString() } };
    },
    { body: 'plain' },
  ),
  kind('JSON of JSON sent', 'body-json-twice', ({ body }) => ({ sent: { body: JSON.stringify(body) } })),
  kind('SHA-512 of the body', 'body-digest', ({ body }) => ({ parts: { body: hex('sha512', body) } })),
  kind('SHA-256 of the body in base64', 'body-digest', ({ body }) => ({
    parts: { body: createHash('sha256').update(body).digest('base64') },
  })),
  kind('digest header of the body', 'body-digest', ({ body }) => ({
    parts: { body: `SHA-256=${createHash('sha256').update(body).digest('base64')}` },
  })),
  kind('{} sent, nothing signed', 'body-empty', () => ({ sent: { body: '{}' } }), { body: 'none' }),
  kind(
    '[] sent for the {} signed',
    'body-placeholder',
    () => ({ parts: { body: '{}' }, sent: { body: '[]' } }),
    { body: 'none' },
  ),
  kind('bytes as Python prints them', 'body-printed', ({ body }) => ({ parts: { body: `b'${body}'` } }), {
    body: 'plain',
  }),
  kind(
    'bytes of indented JSON as Python prints them',
    'body-printed',
    ({ body }) => {
      const indented = JSON.stringify(JSON.parse(body), null, 2);
      return { parts: { body: `b'${indented.replaceAll('\n', '\\n')}'` }, sent: { body: indented } };
    },
    { body: 'plain' },
  ),
  kind('a Uint8Array printed', 'body-printed', ({ body }) => ({
    parts: { body: String(new Uint8Array(Buffer.from(body))) },
  })),
  kind(
    'a Map of Java printed',
    'body-printed',
    ({ body }) => ({
      parts: {
        body: `{${Object.entries(JSON.parse(body) as object)
          .map(([key, value]) => `${key}=${String(value)}`)
          .join(', ')}}`,
      },
    }),
    { body: 'plain' },
  ),
  kind(
    'a hash of Ruby printed',
    'body-printed',
    ({ body }) => ({ parts: { body: body.replaceAll('":', '"=>').replaceAll(',"', ', "') } }),
    {
      body: 'plain',
    },
  ),
  kind('an array of PHP printed', 'body-placeholder', () => ({ parts: { body: 'Array' } })),
  kind('a type of .NET printed', 'body-placeholder', () => ({ parts: { body: 'System.Byte[]' } })),
  kind(
    'cut where characters were counted',
    'body-cut',
    ({ body }) => ({
      parts: { body: Buffer.from(body).subarray(0, body.length) },
    }),
    RICH,
  ),
  kind('keys in snake_case', 'body-key-names', ({ body }) => ({
    parts: {
      body: rewritten(body, (json) =>
        /[A-Z]/.test(json) && body.includes(`${json}:`)
          ? json.replaceAll(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`)
          : json,
      ),
    },
  })),
  kind('keys in PascalCase', 'body-key-names', ({ body }) => ({
    parts: {
      body: rewritten(body, (json) =>
        body.includes(`${json}:`) ? json.replace(/^"[a-z]/, (start) => start.toUpperCase()) : json,
      ),
    },
  })),
  kind('a field added after the signing', 'body-field-added', ({ body }) => ({
    sent: { body: body.replace('{', '{"kind":"BET",') },
  })),
  kind('digest of the body in upper-case hex', 'body-digest', ({ body }) => ({
    parts: { body: hex('sha256', body).toUpperCase() },
  })),
  kind('the body twice', 'unknown', ({ body }) => ({ parts: { body: body + body } })),
];
