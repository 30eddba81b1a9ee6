import type { CauseCode } from '../causes.js';
import type { Mistake } from '../signing.js';
import { contractOrder, hashMapOrder } from './json-orders.js';
import { jsonTokens, jsonValue } from './json-value.js';

/** The same JSON, written by another serialiser or with other settings. */
interface JsonSpelling {
  text: string;
  mistakes: readonly Mistake[];
}

interface Whitespace {
  name: string;
  comma: string;
  colon: string;
  /** Indentation per level; empty for JSON on one line. */
  indent: string;
  newline?: string;
  /** Arrays on one line, as Jackson prints them. */
  inlineArrays?: boolean;
}

const PRETTY = { comma: ',', colon: ': ' };
const WHITESPACE: readonly Whitespace[] = [
  { name: 'none', comma: ',', colon: ':', indent: '' },
  { name: 'a space after each comma and colon, as Python writes it', comma: ', ', colon: ': ', indent: '' },
  { name: 'a space after each colon', comma: ',', colon: ': ', indent: '' },
  { name: 'a space after each comma', comma: ', ', colon: ':', indent: '' },
  ...['  ', '    ', '\t', ' ', '   ', '        '].flatMap((indent): Whitespace[] => [
    { name: `indented by ${JSON.stringify(indent)}`, ...PRETTY, indent },
    {
      name: `indented by ${JSON.stringify(indent)}, with CRLF line ends`,
      ...PRETTY,
      indent,
      newline: '\r\n',
    },
  ]),
  { name: 'indented as Jackson does', comma: ',', colon: ' : ', indent: '  ', inlineArrays: true },
];

interface Choice<T> {
  name: string;
  value: T;
}

type Entries = [key: string, value: unknown][];

const ORDERS: readonly Choice<(entries: Entries) => Entries>[] = [
  { name: 'as it is', value: (entries) => entries },
  { name: 'sorted', value: (entries) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1)) },
  { name: 'reversed', value: (entries) => [...entries].reverse() },
  {
    name: 'sorted regardless of case',
    value: (entries) => [...entries].sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)),
  },
  { name: 'as the contract declares them', value: (entries) => ordered(entries, contractOrder) },
  { name: 'as a HashMap of Java lists them', value: (entries) => ordered(entries, hashMapOrder) },
];

function ordered(entries: Entries, order: (names: readonly string[]) => string[] | undefined): Entries {
  const values = new Map(entries);
  return order([...values.keys()])?.map((name) => [name, values.get(name)]) ?? entries;
}

const unicode = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
const upperUnicode = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
const NOT_ASCII = /[\u007f-\uffff]/g;

/** Each function changes the escapes of a JSON string that `JSON.stringify` has written. */
const ESCAPES: readonly Choice<(json: string) => string>[] = [
  { name: 'none', value: (json) => json },
  {
    name: 'non-ASCII characters as \\u00e9, as Python does',
    value: (json) => json.replace(NOT_ASCII, unicode),
  },
  {
    name: 'slashes and non-ASCII characters, as PHP does',
    value: (json) => slashes(json.replace(NOT_ASCII, unicode)),
  },
  { name: 'slashes as \\/', value: slashes },
  { name: '< > & as \\u003c, as Go does', value: (json) => json.replace(/[<>&\u2028\u2029]/g, unicode) },
  {
    name: 'as System.Text.Json of .NET does',
    value: (json) =>
      json.slice(0, 1) +
      json
        .slice(1, -1)
        .replaceAll('\\"', '\\u0022')
        .replace(/[&'+<>`\u007f-\uffff]/g, upperUnicode) +
      json.slice(-1),
  },
  {
    name: "< > & = ' as \\u003c, as Gson does",
    value: (json) => json.replace(/[<>&='\u2028\u2029]/g, unicode),
  },
  { name: 'non-ASCII characters as \\u00E9', value: (json) => json.replace(NOT_ASCII, upperUnicode) },
  {
    name: "< > & ' as \\u003c, as Newtonsoft.Json can",
    value: (json) => json.replace(/[<>&'\u0085\u2028\u2029]/g, unicode),
  },
];

function slashes(json: string): string {
  return json.replaceAll('/', '\\/');
}

/** Each function returns the JSON for a number or a text, or undefined to leave the value as it is. */
const NUMBERS: readonly Choice<(value: number | string) => string | undefined>[] = [
  { name: 'as they are', value: () => undefined },
  {
    name: 'with ".0"',
    value: (value) => (Number.isInteger(value) ? `${value}.0` : undefined),
  },
  { name: 'as texts', value: (value) => (typeof value === 'number' ? `"${value}"` : undefined) },
  {
    name: 'as numbers, not as texts',
    value: (value) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? value : undefined),
  },
  {
    name: 'with two decimals',
    value: (value) => (typeof value === 'number' ? value.toFixed(2) : undefined),
  },
];

const NULLS: readonly Choice<(value: unknown) => boolean>[] = [
  { name: 'written', value: () => true },
  { name: 'left out', value: (value) => value !== null },
  {
    name: 'left out, like all empty values',
    value: (value) => value !== null && value !== '' && value !== 0 && value !== false,
  },
];

interface Style {
  whitespace: Whitespace;
  order: Choice<(entries: Entries) => Entries>;
  escapes: Choice<(json: string) => string>;
  numbers: Choice<(value: number | string) => string | undefined>;
  nulls: Choice<(value: unknown) => boolean>;
}

const PLAIN: Style = {
  whitespace: WHITESPACE[0]!,
  order: ORDERS[0]!,
  escapes: ESCAPES[0]!,
  numbers: NUMBERS[0]!,
  nulls: NULLS[0]!,
};

/** Maximum number of deviations that are combined. */
const MAX_DEVIATIONS = 3;
/** Length of a JSON text, in characters, above which only single deviations are tried. */
const LONG = 8192;

/** Other spellings of the JSON, those with the fewest deviations first; none if the text is not JSON. */
export function jsonSpellings(sent: string): JsonSpelling[] {
  const value = jsonValue(sent);
  if (value === undefined) return [];
  const baseline = styleOf(value, sent);
  const maxDeviations = sent.length > LONG ? 1 : MAX_DEVIATIONS;
  const spellings = new Map<string, JsonSpelling>();
  const styles = everyStyle(value, baseline)
    .map((style) => ({ style, count: deviationCount(style, baseline) }))
    .filter(({ count }) => count <= maxDeviations)
    .sort((a, b) => a.count - b.count);
  for (const { style } of styles) {
    const text = write(value, style, '');
    if (text !== sent && !spellings.has(text)) {
      const mistakes = deviations(style, baseline);
      spellings.set(text, { text, mistakes: mistakes.length > 0 ? mistakes : [respelt(text, sent)] });
    }
  }
  return [...spellings.values()];
}

/** The style in which the JSON was sent; `PLAIN` if it is none of the known styles. */
function styleOf(value: unknown, sent: string): Style {
  const trimmed = sent.trim();
  for (const whitespace of WHITESPACE) {
    for (const escapes of ESCAPES) {
      const style = { ...PLAIN, whitespace, escapes };
      if (write(value, style, '') === trimmed) return style;
    }
  }
  return PLAIN;
}

/** All combinations of the choices that make a difference to this value. */
function everyStyle(value: object, baseline: Style): Style[] {
  const effective = <K extends keyof Style>(aspect: K, choices: readonly Style[K][]): Style[K][] => {
    const texts = new Set([write(value, baseline, '')]);
    return [
      baseline[aspect],
      ...choices.filter((choice) => {
        const text = write(value, { ...baseline, [aspect]: choice }, '');
        const isNew = !texts.has(text);
        texts.add(text);
        return isNew;
      }),
    ];
  };
  const [orders, escapeChoices, numberChoices, nullChoices] = [
    effective('order', ORDERS),
    effective('escapes', ESCAPES),
    effective('numbers', NUMBERS),
    effective('nulls', NULLS),
  ];
  return effective('whitespace', WHITESPACE).flatMap((whitespace) =>
    orders.flatMap((order) =>
      escapeChoices.flatMap((escapes) =>
        numberChoices.flatMap((numbers) =>
          nullChoices.map((nulls) => ({ whitespace, order, escapes, numbers, nulls })),
        ),
      ),
    ),
  );
}

function deviationCount(style: Style, from: Style): number {
  return (Object.keys(style) as (keyof Style)[]).filter((aspect) => style[aspect] !== from[aspect]).length;
}

const ADVICE = 'Serialise once, then sign and send the same bytes.';

function deviations(style: Style, from: Style): Mistake[] {
  const mistakes: Mistake[] = [];
  const add = (code: CauseCode, what: string) =>
    mistakes.push({ code, explanation: `The signed JSON ${what}. ${ADVICE}` });
  if (style.whitespace !== from.whitespace) {
    add('body-whitespace', `has other whitespace than the one sent: ${style.whitespace.name}`);
  }
  if (style.order !== from.order) {
    add('body-key-order', `has its keys in another order than the one sent: ${style.order.name}`);
  }
  if (style.escapes !== from.escapes) {
    add('body-escapes', `has other escapes than the one sent: ${style.escapes.name}`);
  }
  if (style.numbers !== from.numbers) {
    add('body-numbers', `has its numbers written otherwise than the one sent: ${style.numbers.name}`);
  }
  if (style.nulls !== from.nulls) add('body-nulls', `has its null values ${style.nulls.name}`);
  return mistakes;
}

/**
 * Names what differs between the two texts. Used if the style of the sent JSON does not explain the difference, because
 * the style is unknown or there is whitespace around the JSON.
 */
function respelt(text: string, sent: string): Mistake {
  const tokens = (json: string) => jsonTokens(json).map(([token]) => token);
  const withoutSpace = (json: string) => tokens(json).join('');
  const numbers = (json: string) =>
    tokens(json)
      .filter((token) => !token.startsWith('"'))
      .join('')
      .match(/[-\d.eE]+/g)
      ?.join() ?? '';
  const [code, what]: [CauseCode, string] =
    withoutSpace(text) === withoutSpace(sent)
      ? ['body-whitespace', 'has other whitespace than the one sent']
      : numbers(text) === numbers(sent)
        ? ['body-serialised', 'has the same content as the one sent, and other bytes']
        : ['body-numbers', 'has its numbers written otherwise than the one sent'];
  return { code, explanation: `The signed JSON ${what}. ${ADVICE}` };
}

function write(value: unknown, style: Style, margin: string): string {
  const { whitespace, escapes, numbers } = style;
  if (typeof value === 'string') return numbers.value(value) ?? escapes.value(JSON.stringify(value));
  if (typeof value === 'number') return numbers.value(value) ?? JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = margin + whitespace.indent;
  if (Array.isArray(value)) {
    const items = value.map((item) => write(item, style, inner));
    if (whitespace.inlineArrays) return items.length === 0 ? '[ ]' : `[ ${items.join(', ')} ]`;
    return enclosed('[', items, ']', margin, whitespace);
  }
  const members = style.order
    .value(Object.entries(value))
    .filter(([, member]) => style.nulls.value(member))
    .map(
      ([key, member]) => escapes.value(JSON.stringify(key)) + whitespace.colon + write(member, style, inner),
    );
  return enclosed('{', members, '}', margin, whitespace);
}

function enclosed(
  open: string,
  items: readonly string[],
  close: string,
  margin: string,
  { comma, indent, newline = '\n' }: Whitespace,
): string {
  if (items.length === 0) return open + close;
  if (indent === '') return open + items.join(comma) + close;
  const inner = newline + margin + indent;
  return open + inner + items.join(comma + inner) + newline + margin + close;
}
