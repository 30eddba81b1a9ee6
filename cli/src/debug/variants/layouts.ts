import type { CauseCode } from '../causes.js';
import { type Layout, type Mistake, type Part, type Rank, RIGHT_LAYOUT, type Variant } from '../signing.js';
import { permutations } from './permutations.js';

const RIGHT_ORDER = RIGHT_LAYOUT.order as readonly SignedPart[];

const SEPARATORS = [
  '\n',
  '',
  '.',
  ':',
  '|',
  '&',
  '\\n',
  '\r\n',
  ',',
  ';',
  ' ',
  '-',
  '_',
  '+',
  '/',
  '#',
  '=',
  '\t',
  '\r',
  '\n\n',
  '\0',
  '||',
  '::',
  ', ',
  ' \n',
];
/** The likelier separators: rank 1 between all parts. In a single gap of the head, no others are tried. */
const COMMON_SEPARATORS = new Set(['', '.', ':', '|', '&', '\\n', '\r\n', ',', ' ']);

type SignedPart = Exclude<Part, 'tenant'>;

/**
 * Ways to put the parts together other than `METHOD\nPATH\nTIMESTAMP\nNONCE\nBODY`.
 * @param isBodyEmpty whether a body that is left out shows only by its separator
 */
export function layoutVariants(isBodyEmpty: boolean): readonly Variant[] {
  let variants = built.get(isBodyEmpty);
  if (!variants) {
    variants = [
      named(),
      separated(),
      ended(),
      begun(),
      oneGap(),
      withParts(isBodyEmpty),
      withTenant(),
      labelled(),
      serialised(),
    ].flat();
    built.set(isBodyEmpty, variants);
  }
  return variants;
}

/** The variants do not depend on anything else, so they are built only once. */
const built = new Map<boolean, readonly Variant[]>();

const of = (rank: Rank, mistakes: readonly Mistake[], layout: Layout): Variant => ({
  rank,
  mistakes,
  change: { layout },
});

/** Other services' schemes, which signers may use by mistake. */
function named(): Variant[] {
  const scheme = (code: CauseCode, name: string, layout: Layout): Variant => {
    const explanation = `The text was put together as ${name} does. Sign METHOD, PATH, TIMESTAMP, NONCE and BODY with a newline between them.`;
    return of(1, [{ code, explanation }], layout);
  };
  return [
    scheme('layout-body-only', 'GitHub (the body alone)', { order: ['body'], separator: '\n' }),
    scheme('layout-stripe', 'Stripe (TIMESTAMP.BODY)', { order: ['timestamp', 'body'], separator: '.' }),
    scheme('layout-standard-webhooks', 'Standard Webhooks (ID.TIMESTAMP.BODY)', {
      order: ['nonce', 'timestamp', 'body'],
      separator: '.',
    }),
    scheme('layout-slack', 'Slack (v0:TIMESTAMP:BODY)', {
      order: ['timestamp', 'body'],
      separator: ':',
      prefix: 'v0:',
    }),
    scheme('layout-v1', 'version 1 of a scheme with a prefix', { ...RIGHT_LAYOUT, prefix: 'v1\n' }),
    scheme('layout-v1', 'version 1 of a scheme with a prefix', { ...RIGHT_LAYOUT, prefix: 'v1:' }),
  ];
}

function separated(): Variant[] {
  return SEPARATORS.slice(1).flatMap((separator) => {
    const rank = COMMON_SEPARATORS.has(separator) ? 1 : 2;
    const mistakes = [otherSeparator(separator)];
    return [
      of(rank, mistakes, { ...RIGHT_LAYOUT, separator }),
      of(3, [...mistakes, AT_END], { ...RIGHT_LAYOUT, separator, suffix: separator }),
      of(3, mistakes, { ...RIGHT_LAYOUT, separator, separators: gaps(separator, '\n') }),
      of(3, [...mistakes, NONE_BEFORE_BODY], { ...RIGHT_LAYOUT, separator, separators: gaps(separator, '') }),
      of(2, [beforeBody(separator)], { ...RIGHT_LAYOUT, separators: gaps('\n', separator) }),
    ];
  });
}

/** The separators between the five parts: three in the head, and one before the body. */
function gaps(head: string, beforeBody: string): string[] {
  return [head, head, head, beforeBody];
}

function ended(): Variant[] {
  return ['\n', '\r\n'].map((suffix) => of(1, [AT_END], { ...RIGHT_LAYOUT, suffix }));
}

function begun(): Variant[] {
  const explanation = 'A newline was signed in front of the method. The method comes first.';
  return ['\n', '\r\n'].map((prefix) =>
    of(2, [{ code: 'newline-at-start', explanation }], { ...RIGHT_LAYOUT, prefix }),
  );
}

/** Another separator in a single gap of the head, such as the space of a request line. */
function oneGap(): Variant[] {
  return [0, 1, 2].flatMap((gap) =>
    [...COMMON_SEPARATORS].map((separator) => {
      const [before, after] = [RIGHT_ORDER[gap]!, RIGHT_ORDER[gap + 1]!];
      const what = separator === '' ? 'nothing' : shown(separator);
      const explanation = `There was ${what} between ${before} and ${after}. Join all parts with one newline.`;
      return of(2, [{ code: 'layout-separator', explanation }], {
        ...RIGHT_LAYOUT,
        separators: gaps('\n', '\n').with(gap, separator),
      });
    }),
  );
}

/** Every order of the five parts, and of every subset of them. */
function withParts(isBodyEmpty: boolean): Variant[] {
  return subsets(RIGHT_ORDER)
    .filter((parts) => parts.length > 0)
    .flatMap((parts) => {
      const missing = RIGHT_ORDER.filter((part) => !parts.includes(part));
      return permutations(parts)
        .map((order) => ({ order, isInOrder: order.join() === parts.join() }))
        .filter(({ isInOrder }) => missing.length > 0 || !isInOrder)
        .flatMap(({ order, isInOrder }) =>
          SEPARATORS.flatMap((separator): Variant[] => {
            const joint = separator === '\n' ? [] : [otherSeparator(separator)];
            const mistakes = [
              ...missingParts(missing, isBodyEmpty),
              ...(isInOrder ? [] : [otherOrder(order)]),
              ...joint,
            ];
            const plain = of(rankOf(order, missing, isInOrder, separator), mistakes, { order, separator });
            const ended = of(3, [...mistakes, AT_END], { order, separator, suffix: separator });
            if (isBodyEmpty || !missing.includes('body')) return separator === '' ? [plain] : [plain, ended];
            // A body that is left out shows no more than one that was signed as empty.
            const rest = missing.filter((part) => part !== 'body');
            const withEmptyBody = [
              ...missingParts(rest, false),
              ...(isInOrder ? [] : [otherOrder([...order, 'body'])]),
              EMPTY_BODY,
            ];
            const joined = { alternatives: [[...withEmptyBody, ...joint]] };
            if (separator === '') return [{ ...plain, ...joined }];
            const unseparated = { alternatives: [[...withEmptyBody, ...joint, NONE_BEFORE_BODY]] };
            return [
              { ...plain, ...unseparated },
              { ...ended, ...joined },
            ];
          }),
        );
    });
}

function rankOf(
  order: readonly Part[],
  missing: readonly Part[],
  isInOrder: boolean,
  separator: string,
): Rank {
  if (separator !== '\n') return isInOrder && missing.length <= 1 && separator === '.' ? 2 : 3;
  if (isInOrder) return missing.length <= 2 ? 1 : 2;
  return missing.length === 0 && (isOneSwap(order) || order[0] === 'body') ? 1 : 2;
}

function isOneSwap(order: readonly Part[]): boolean {
  return order.filter((part, index) => RIGHT_ORDER[index] !== part).length === 2;
}

function withTenant(): Variant[] {
  const explanation = 'The tenant id was signed too. It is sent in X-Tenant-ID and is no part of the text.';
  const added: Mistake = { code: 'layout-tenant-added', explanation };
  const places = [0, 1, 2, 3, 4, 5];
  const inserted = (order: readonly Part[], at: number): Part[] => [
    ...order.slice(0, at),
    'tenant',
    ...order.slice(at),
  ];
  const others: Part[][] = [
    ['tenant', 'timestamp', 'body'],
    ['tenant', 'timestamp', 'nonce', 'body'],
    ['tenant', 'nonce', 'timestamp', 'body'],
    ['tenant', 'body'],
    ['timestamp', 'tenant', 'body'],
    ['body', 'tenant'],
    ['tenant', 'nonce', 'body'],
    ['method', 'path', 'tenant', 'timestamp', 'body'],
    ['tenant', 'timestamp', 'nonce', 'method', 'path', 'body'],
  ];
  return SEPARATORS.flatMap((separator) => {
    const mistakes = separator === '\n' ? [added] : [added, otherSeparator(separator)];
    const rank = separator === '\n' ? 1 : 3;
    return [
      ...places.map((at) => of(rank, mistakes, { order: inserted(RIGHT_ORDER, at), separator })),
      ...others.map((order) => of(3, mistakes, { order, separator })),
      ...permutations(RIGHT_ORDER)
        .filter(() => separator === '\n' || separator === '.' || separator === '')
        .flatMap((order) => places.map((at) => ({ order: inserted(order, at), separator })))
        .map((layout) => of(3, [...mistakes, otherOrder(layout.order)], layout)),
    ];
  });
}

/** `key=value` pairs, as in form and OAuth schemes. */
function labelled(): Variant[] {
  const explanation =
    'The parts were labelled, as in method=POST&path=…. Sign the values alone, with a newline between them.';
  // Each label is added to the separator before its part, so that the parts themselves are unchanged.
  return ['=', ':', ': '].flatMap((equals) =>
    ['&', '\n'].map((separator): Variant => {
      const [first, ...rest] = RIGHT_ORDER.map((part) => part + equals);
      const layout: Layout = {
        ...RIGHT_LAYOUT,
        prefix: first!,
        separators: rest.map((label) => separator + label),
      };
      return of(2, [{ code: 'layout-labelled', explanation }], layout);
    }),
  );
}

/** The parts as JSON. */
function serialised(): Variant[] {
  const explanation = 'JSON of the parts was signed. Sign the parts themselves, with a newline between them.';
  const json: NonNullable<Layout['serialise']>[] = [
    ({ method, path, timestamp, nonce, body }) => JSON.stringify({ method, path, timestamp, nonce, body }),
    ({ method, path, timestamp, nonce, body }) => JSON.stringify([method, path, timestamp, nonce, body]),
  ];
  return json.map((serialise) =>
    of(2, [{ code: 'layout-json', explanation }], { ...RIGHT_LAYOUT, serialise }),
  );
}

const AT_END: Mistake = {
  code: 'newline-at-end',
  explanation:
    'A separator or newline was signed after the body, and not sent. Nothing follows the body, and the signed bytes are those sent.',
};
const NONE_BEFORE_BODY: Mistake = beforeBody('');
const EMPTY_BODY: Mistake = {
  code: 'body-empty',
  explanation: 'An empty body was signed instead of the body.',
};

function beforeBody(separator: string): Mistake {
  const what = separator === '' ? 'nothing' : shown(separator);
  return {
    code: 'layout-before-body',
    explanation: `There was ${what} between nonce and body. There is one newline, even before an empty body.`,
  };
}

function otherSeparator(separator: string): Mistake {
  const explanation =
    separator === '\\n'
      ? 'The parts were joined with a backslash and an "n". Join them with a newline (in shells printf, in code "\\n").'
      : `The parts were joined with ${separator === '' ? 'nothing' : shown(separator)}. Join them with one newline.`;
  return { code: 'layout-separator', explanation };
}

function missingParts(missing: readonly SignedPart[], isBodyEmpty: boolean): Mistake[] {
  const parts = isBodyEmpty ? missing.filter((part) => part !== 'body') : missing;
  const [only] = parts;
  const code = parts.length === 1 && only ? (`layout-${only}-missing` as const) : 'layout-parts-missing';
  const mistakes: Mistake[] = only
    ? [{ code, explanation: `Not signed: ${parts.join(', ')}. Sign all five parts.` }]
    : [];
  return parts.length < missing.length ? [...mistakes, NONE_BEFORE_BODY] : mistakes;
}

function otherOrder(order: readonly Part[]): Mistake {
  return {
    code: 'layout-order',
    explanation: `The parts were signed in the order ${order.join(', ')}. The order is ${RIGHT_ORDER.join(', ')}.`,
  };
}

function shown(separator: string): string {
  return JSON.stringify(separator);
}

function subsets<T>(items: readonly T[]): T[][] {
  const [first, ...rest] = items;
  if (first === undefined) return [[]];
  const without = subsets(rest);
  return [...without.map((subset) => [first, ...subset]), ...without];
}
