import type { Mistake } from './signing.js';

/** One way to read the text of `X-Signature`. */
export interface SpeltSignature {
  bytes: Buffer;
  mistakes: readonly Mistake[];
}

/** Shortest signature, in bytes: a shorter one could match by chance. */
const MIN_BYTES = 8;
const PREFIX =
  /^(?:t=\d+,\s*)?(?:hmac[-_ ]?)?(?:sha-?\d+|md5|v\d|signature|hmac|0x|digest|bearer)[\s=:,]+(?=\S)/i;

/**
 * All ways to read the text of `X-Signature`: as hex, which is correct, then as base64 and as a list of numbers. Empty
 * if the text cannot be a signature.
 */
export function readSignature(header: string): SpeltSignature[] {
  const found: Mistake[] = [];
  let text = header.trim();
  const printed = text.replace(/^b(["'])(.*)\1$/s, '$2');
  if (printed !== text) {
    found.push({
      code: 'signature-printed',
      explanation:
        "X-Signature is bytes as Python prints them (b'…'). Decode them to text before you send them.",
    });
    text = printed;
  }
  const decoded = text.replaceAll(/%(?:2B|2F|3D)/gi, (code) => decodeURIComponent(code));
  if (decoded !== text) {
    found.push({
      code: 'signature-url-encoded',
      explanation: 'X-Signature is URL-encoded. Send the 64 hex digits as they are.',
    });
    text = decoded;
  }
  const unquoted = text.replace(/^(["'<])(.*)(["'>])$/s, '$2');
  if (unquoted !== text) {
    found.push({
      code: 'signature-quoted',
      explanation: 'X-Signature is in quotation marks. Send the 64 hex digits only.',
    });
    text = unquoted;
  }
  const bare = text.replace(/^0x(?=[0-9a-f])/i, '').replace(PREFIX, '');
  if (bare !== text) {
    found.push({
      code: 'signature-prefix',
      explanation: 'X-Signature has a prefix, such as sha256=. Send the 64 hex digits only.',
    });
    text = bare;
  }
  const joined = text.replaceAll(/[:\s-](?=[0-9a-f]{2}(?:[:\s-]|$))/gi, '');
  if (joined !== text && /^[0-9a-f]+$/i.test(joined)) {
    found.push({
      code: 'signature-separators',
      explanation: 'X-Signature has separators between its digits. Send the 64 hex digits only.',
    });
    text = joined;
  }
  return [...asHex(text, found), ...asBase64(text, found), ...asNumbers(text, found)].filter(
    ({ bytes }) => bytes.length >= MIN_BYTES,
  );
}

function asHex(text: string, found: readonly Mistake[]): SpeltSignature[] {
  if (!/^[0-9a-f]+$/i.test(text)) return [];
  const mistakes = [...found];
  if (/[A-F]/.test(text)) {
    mistakes.push({
      code: 'signature-upper-case',
      explanation: 'X-Signature has upper-case hex digits. Send them in lower case.',
    });
  }
  const bytes = Buffer.from(text, 'hex');
  const readings = [{ bytes, mistakes: withLength(bytes, mistakes) }];
  const inner = bytes.toString('latin1');
  if (/^[0-9a-f]{64}$/i.test(inner)) {
    const twice: Mistake = {
      code: 'signature-encoded-twice',
      explanation: 'X-Signature was encoded as hex twice. Encode the bytes of the HMAC once.',
    };
    readings.push({ bytes: Buffer.from(inner, 'hex'), mistakes: [...mistakes, twice] });
  }
  return readings;
}

function asBase64(text: string, found: readonly Mistake[]): SpeltSignature[] {
  if (!/^[A-Za-z0-9+/_-]{11,}={0,2}$/.test(text) || /^[0-9a-f]{64}$/i.test(text)) return [];
  const bytes = Buffer.from(text, 'base64');
  const base64: Mistake = {
    code: 'signature-base64',
    explanation: 'X-Signature is base64. Send 64 lower-case hex digits.',
  };
  const inner = bytes.toString('latin1');
  if (/^[0-9a-f]{64}$/i.test(inner)) {
    const explanation = 'X-Signature is base64 of the hex digits. Send the hex digits themselves.';
    const mistakes: Mistake[] = [...found, { code: 'signature-encoded-twice', explanation }];
    return [{ bytes: Buffer.from(inner, 'hex'), mistakes }];
  }
  return [{ bytes, mistakes: withLength(bytes, [...found, base64]) }];
}

/** Reads a list of byte values, signed or unsigned. */
function asNumbers(text: string, found: readonly Mistake[]): SpeltSignature[] {
  const list = text.replace(/^\[(.*)\]$/, '$1').split(/[, ]+/);
  if (list.length < MIN_BYTES || !list.every((each) => /^-?\d{1,3}$/.test(each))) return [];
  const bytes = Buffer.from(list.map(Number));
  const printed: Mistake = {
    code: 'signature-printed',
    explanation: 'X-Signature is a list of numbers. Send the bytes of the HMAC as 64 lower-case hex digits.',
  };
  return [{ bytes, mistakes: withLength(bytes, [...found, printed]) }];
}

/**
 * Whether the text is the digest in hex without leading zeros, either those of the whole number or those of each byte.
 */
export function lacksZeros(header: string, digest: Buffer): boolean {
  const text = header.trim().toLowerCase();
  const bytes = [...digest].map((byte) => byte.toString(16)).join('');
  return text.length < 2 * digest.length && [bytes, digest.toString('hex').replace(/^0+/, '')].includes(text);
}

function withLength(bytes: Buffer, mistakes: Mistake[]): Mistake[] {
  if (bytes.length >= 32) return mistakes;
  const explanation = `X-Signature has ${bytes.length} bytes: it is cut, or made with another algorithm. HMAC-SHA256 has 32, which are 64 hex digits.`;
  return [...mistakes, { code: 'signature-length', explanation }];
}
