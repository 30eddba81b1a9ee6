import type { CauseCode } from '../causes.js';
import { type Rank, type Variant, variant } from '../signing.js';
import { jsonTokens, jsonValue } from './json-value.js';

const of = (rank: Rank, code: CauseCode, explanation: string, body: string): Variant =>
  variant(rank, code, explanation, { body: Buffer.from(body) });

/**
 * Variants of a JSON body that `jsonSpellings` does not cover: the JSON serialised twice, its fields in formats other
 * than JSON, and changes to its keys, its nulls or single numbers.
 */
export function jsonBodyVariants(text: string): Variant[] {
  return [...ofContent(text), ...ofSingleNumbers(text)];
}

function ofContent(text: string): Variant[] {
  const twice = 'The JSON was serialised twice: the text of the JSON was signed as a JSON string.';
  const form = 'The fields were signed in form encoding (a=1&b=2), and sent as JSON.';
  const print = 'The printed form of an object was signed, not its JSON.';
  const variants = [
    of(1, 'body-json-twice', twice, JSON.stringify(text)),
    of(2, 'body-json-twice', twice, JSON.stringify(text).slice(1, -1)),
  ];
  const twiceSent = jsonText(text);
  if (twiceSent !== undefined) {
    variants.push(of(1, 'body-json-twice', 'The JSON was serialised twice before it was sent.', twiceSent));
  }
  const value = jsonValue(text);
  if (value === undefined) return variants;
  const fields = Object.entries(value).map(([name, field]): [string, string] => [
    name,
    typeof field === 'object' ? JSON.stringify(field) : String(field),
  ]);
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const order of [fields, sorted]) {
    const encoded = new URLSearchParams(order).toString();
    const plain = order.map(([name, field]) => `${name}=${field}`);
    variants.push(
      of(1, 'body-form-encoded', form, encoded),
      of(2, 'body-form-encoded', form, encoded.replaceAll('+', '%20')),
      of(2, 'body-form-encoded', form, plain.join('&')),
      of(2, 'body-printed', print, `{${plain.join(', ')}}`),
      of(2, 'body-printed', print, `map[${order.map(([name, field]) => `${name}:${field}`).join(' ')}]`),
      of(
        2,
        'body-values-only',
        'The values of the fields were signed without their names.',
        order.map(([, field]) => field).join(''),
      ),
    );
  }
  variants.push(
    of(2, 'body-printed', print, pythonRepresentation(value)),
    of(2, 'body-printed', print, rubyRepresentation(value, '=>')),
    of(2, 'body-printed', print, rubyRepresentation(value, ' => ')),
    of(
      2,
      'body-nulls',
      'Empty texts were signed where null was sent.',
      text.replaceAll(/:( ?)null\b/g, ':$1""'),
    ),
    ...renamedKeys(value).map(([name, spelling]) =>
      of(
        2,
        'body-key-names',
        `The signed JSON has its keys in ${name}. Sign the bytes that you send.`,
        spelling,
      ),
    ),
    of(
      2,
      'body-serialised',
      'The body was parsed and serialised again before it was signed. Sign the bytes that you send.',
      JSON.stringify(value),
    ),
    of(
      2,
      'body-serialised',
      'Empty objects were signed as empty lists, as PHP writes them after json_decode with arrays.',
      text.replaceAll(/:( ?)\{\}/g, ':$1[]'),
    ),
  );
  return variants;
}

/** The JSON with its keys renamed by the naming policies of serialisers. */
function renamedKeys(value: object): [name: string, json: string][] {
  const policies: [string, (key: string) => string][] = [
    ['snake_case', (key) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)],
    ['PascalCase', (key) => key.charAt(0).toUpperCase() + key.slice(1)],
    ['kebab-case', (key) => key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)],
    ['lower case', (key) => key.toLowerCase()],
    ['camelCase', (key) => key.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase())],
  ];
  const unchanged = JSON.stringify(value);
  return policies
    .map(([name, rename]): [string, string] => [name, JSON.stringify(withKeys(value, rename))])
    .filter(([, renamed]) => renamed !== unchanged);
}

function withKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withKeys(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [rename(key), withKeys(member, rename)]),
  );
}

/** Only the first numbers of the JSON, at most this many, are tried in other spellings. */
const MAX_NUMBERS = 20;

/** Variants with one number of the JSON written differently, and all others as they were sent. */
function ofSingleNumbers(text: string): Variant[] {
  const numbers = jsonTokens(text).filter(([token]) => /^-?\d/.test(token));
  return numbers.slice(0, MAX_NUMBERS).flatMap(({ 0: token, index }) => {
    const spellings = [`"${token}"`, `${token}.0`, `${token}.00`, String(Number(token) / 100)];
    const rest = text.slice(index + token.length);
    return spellings.map((spelling) =>
      of(
        3,
        'body-numbers',
        `The signed JSON has ${spelling} where ${token} was sent. Serialise once, then sign and send the same bytes.`,
        text.slice(0, index) + spelling + rest,
      ),
    );
  });
}

function rubyRepresentation(value: unknown, arrow: string): string {
  if (value === null) return 'nil';
  if (Array.isArray(value)) return `[${value.map((item) => rubyRepresentation(item, arrow)).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => JSON.stringify(name) + arrow + rubyRepresentation(member, arrow),
  );
  return `{${members.join(', ')}}`;
}

/** The text that a JSON string contains. */
function jsonText(json: string): string | undefined {
  if (!json.startsWith('"')) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The text that Python's `str()` returns for the same value. */
function pythonRepresentation(value: unknown): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') {
    const mark = value.includes("'") && !value.includes('"') ? '"' : "'";
    return mark + value.replaceAll('\\', '\\\\') + mark;
  }
  if (Array.isArray(value)) return `[${value.map(pythonRepresentation).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${pythonRepresentation(name)}: ${pythonRepresentation(member)}`,
  );
  return `{${members.join(', ')}}`;
}
