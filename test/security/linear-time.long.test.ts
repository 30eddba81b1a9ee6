import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { csvRecord } from '../../src/api/lists/csv.js';
import { parseJsonObject } from '../../src/api/validation/json.js';
import { checkBaseUrl, normalisedBaseUrl } from '../../src/outbound/base-url.js';
import { instantMs } from '../../src/runtime/instant.js';
import { GAME, OPERATOR, PROVIDER, useWorld } from '../world/world.js';

/** An input that grows with its number of repetitions. */
interface Attack {
  readonly prefix: string;
  readonly pump: string;
  readonly suffix: string;
}

/** Lengths of an input, in characters. Exponential time shows at 24. */
const SHORTEST = 6;
const LONGEST = 12_288;
/** Inputs that cost less are not compared, because the measurement would be noise. CPU milliseconds. */
const MEASURABLE_MS = 20;
/** Largest factor of cost for twice the input. Quadratic time costs four times as much. */
const GROWTH = 3;
/** How often a growth must be measured again before it counts. */
const CONFIRMATIONS = 4;

/** CPU milliseconds of this process, the best of three runs, so that other work on the machine has no influence. */
function cpuMs(work: () => unknown): number {
  let best = Infinity;
  for (let run = 0; run < 3 && best > 1; run += 1) {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

const inputOf = ({ prefix, pump, suffix }: Attack, length: number) =>
  prefix + pump.repeat(Math.ceil(length / pump.length)) + suffix;

/**
 * Whether the work's CPU time grows faster than its input; doubles the input and stops at the first proof. A proof is
 * measured again several times, because garbage collection, or a machine that is slow for a moment, may coincide with
 * the measurement of the longer input.
 */
function isSuperLinear(work: (input: string) => unknown, attack: Attack, longest: number): boolean {
  const costAt = (length: number) => cpuMs(() => work(inputOf(attack, length)));
  const growsTooFast = (before: number, after: number) =>
    after > MEASURABLE_MS && after > Math.max(before, MEASURABLE_MS / 4) * GROWTH;
  let before = MEASURABLE_MS;
  for (let length = SHORTEST; length <= longest; length *= 2) {
    const after = costAt(length);
    const isConfirmed = () => growsTooFast(costAt(length / 2), costAt(length));
    if (growsTooFast(before, after) && Array.from({ length: CONFIRMATIONS }, isConfirmed).every(Boolean))
      return true;
    before = after;
  }
  return false;
}

/** Every way to repeat one to three characters of a text and then to end so that a match fails, or as the text does. */
function attacksFrom(text: string): Attack[] {
  const attacks: Attack[] = [];
  for (let from = 0; from < text.length; from += 1) {
    for (let to = from + 1; to <= Math.min(from + 3, text.length); to += 1) {
      for (const suffix of ['\0', text.slice(to)]) {
        attacks.push({ prefix: text.slice(0, from), pump: text.slice(from, to), suffix });
      }
    }
  }
  return attacks;
}

interface FoundExpression {
  readonly where: string;
  readonly expression: RegExp;
}

function sourceFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
}

/** Every regular expression literal of a source file. */
function expressionsOf(path: string): FoundExpression[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: FoundExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const [, pattern = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(node.text) ?? [];
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push({ where: `${path}:${line + 1} ${node.text}`, expression: new RegExp(pattern, flags) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const LONGEST_SAMPLE = 32;

/** A character of each class that an expression may name. */
const OF_CLASS: Readonly<Record<string, string>> = {
  '\\s': ' ',
  '\\d': '0',
  '\\w': 'a',
  '\\S': 'a',
  '\\D': 'a',
};

/**
 * Texts close to a match of an expression: its own characters in their order, and texts that fast-check generates.
 * fast-check searches for ever if a class excludes all of printable ASCII, like `[^ -~]`.
 */
function samplesFor({ source, flags }: RegExp): string[] {
  const own = source.replaceAll(/\\[sdwSD]/g, (name) => OF_CLASS[name]!).replaceAll(/[\\^$()[\]{}|?*+]/g, '');
  const texts = [own, '0 a', '\t "\\"'];
  try {
    // The set of matching characters depends neither on the case nor on the position of a search.
    const matched = fc.stringMatching(new RegExp(source, flags.replaceAll(/[gi]/g, '')));
    texts.push(...fc.sample(matched, { seed: 1, numRuns: 5 }));
  } catch {
    // An assertion or a property escape, for which fast-check generates nothing.
  }
  return [...new Set(texts.map((text) => text.slice(0, LONGEST_SAMPLE)))];
}

function use(expression: RegExp): (input: string) => unknown {
  return expression.global ? (input) => input.replaceAll(expression, '') : (input) => expression.test(input);
}

function attackOn(expression: RegExp): Attack | undefined {
  const attacks = samplesFor(expression).flatMap(attacksFrom);
  return attacks.find((attack) => isSuperLinear(use(expression), attack, LONGEST));
}

describe('a regular expression takes time linear in the length of foreign text', () => {
  const expressions = ['src', 'sdk/src', 'cli/src'].flatMap(sourceFiles).flatMap(expressionsOf);

  test('all regular expressions are found', () => expect(expressions.length).toBeGreaterThan(50));

  test.each(expressions)('$where', ({ expression }) => expect(attackOn(expression)).toBeUndefined());

  test.each([
    [/"(?:[^"\\]|\\.)*"/g],
    [/0+$/],
    [/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i],
    [/^(a+)+$/],
    [/^[^:]+:[ \t]*(.*?)[ \t]*$/],
  ])('%s is detected', (expression) => expect(attackOn(expression)).toBeDefined());
});

describe('a function takes time linear in the length of foreign text', () => {
  const json = (text: string) => parseJsonObject(Buffer.from(text));
  test.each<[name: string, work: (input: string) => unknown, attack: Attack]>([
    ['JSON, escaped quotes that never end', json, { prefix: '{"a": 1.5, "', pump: '\\"', suffix: '' }],
    ['JSON, escaped quotes', json, { prefix: '{"a": 1.5, "', pump: '\\"', suffix: '":1}' }],
    ['JSON, a long fraction', json, { prefix: '{"a":1.', pump: '0', suffix: '1}' }],
    ['JSON, a long exponent', json, { prefix: '{"a":1e', pump: '0', suffix: '1}' }],
    ['JSON, many rounded numbers', json, { prefix: '{"a":[1', pump: ',9007199254740990.6', suffix: ']}' }],
    ['JSON, a long integer', json, { prefix: '{"a":', pump: '9', suffix: '.5}' }],
    ['JSON, deep', json, { prefix: '{"a":', pump: '[', suffix: '' }],
    ['CSV, blanks', (text) => csvRecord([text]), { prefix: '', pump: ' \t', suffix: 'a' }],
    ['CSV, cells', (text) => csvRecord([text]), { prefix: '', pump: ';=', suffix: '' }],
    ['an instant', instantMs, { prefix: '2026-01-01T00:00:00.', pump: '0', suffix: 'Z' }],
    ['a base URL', (text) => checkBaseUrl(text, true), { prefix: 'https://a', pump: '/', suffix: ' ' }],
    ['a normalised URL', normalisedBaseUrl, { prefix: 'https://a', pump: '/', suffix: 'a' }],
  ])('%s', (_, work, attack) => expect(isSuperLinear(work, attack, 128 * 1024)).toBe(false));
});

/** In earlier versions, each of these requests blocked the process for 0.2 s to 15 s. */
describe('a hostile request costs about as much as a harmless one of the same size', () => {
  const world = useWorld();

  const MAX_MS = 120;
  const LONG_FRACTION = `{"amountMinor":1.${'0'.repeat(65_000)}1}`;
  const OBJECTS = Array(87_000).fill('{}').join();
  const UNFINISHED_TEXT = (pairs: number) => `{"a": 1.5, "${'\\"'.repeat(pairs)}`;

  async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
    const start = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  }

  test.each([
    ['an unfinished text', '/v1/wallet/transaction', PROVIDER, UNFINISHED_TEXT(32_700)],
    ['a long fraction', '/v1/wallet/transaction', PROVIDER, LONG_FRACTION],
    ['a batch of twice the size', '/v1/operator/free-spins/batches', OPERATOR, UNFINISHED_TEXT(64_000)],
    ['a batch of objects', '/v1/operator/free-spins/batches', OPERATOR, `{"playerRefs":[${OBJECTS}]}`],
  ])('%s', async (_, path, tenant, body) => {
    await world.signed(tenant, path, '{}');
    const cost = await cpuMsOf(async () => {
      const reply = await world.signed(tenant, path, body);
      expect(reply.status).toBe(400);
    });
    expect(cost).toBeLessThan(MAX_MS);
  });

  test('a Content-Type of blanks', async () => {
    const headers = { 'Content-Type': `application/json${' '.repeat(15_000)}x` };
    const cost = await cpuMsOf(async () => {
      const reply = await world.signed(PROVIDER, '/v1/wallet/balance', '{}', { headers });
      expect(reply.status).toBe(400);
    });
    expect(cost).toBeLessThan(MAX_MS);
  });

  test("a wallet's answer", async () => {
    const session = await world.launch({ gameId: GAME });
    world.wallet.next({ do: 'answer', status: 200, body: UNFINISHED_TEXT(30_000) });
    const cost = await cpuMsOf(() => world.balance(session));
    expect(cost).toBeLessThan(MAX_MS);
  });
});
