import { Unmet } from '../../../outcome.js';
import type { WalletCaller, WalletOrder } from '../../caller.js';
import { RULES } from '../../rules.js';
import { oneOfEach } from './one-of-each.js';
import type { WalletCase } from '../wallet-case.js';

/** The longest operatorTransactionId, in characters. */
const LONGEST_REFERENCE = 200;

export const REFERENCE_CASES: WalletCase[] = [
  {
    id: 'reference-text',
    title: `answers with an operatorTransactionId of 1 to ${LONGEST_REFERENCE} characters, or without one`,
    rule: RULES.reference,
    run: async (caller) => {
      for (const order of await oneOfEach(caller)) {
        const mistake = mistakeIn(await referenceOf(caller, order));
        if (mistake === undefined) continue;
        throw new Unmet(
          `an operatorTransactionId that is a text of 1 to ${LONGEST_REFERENCE} characters, or none`,
          `${mistake} for the ${order.kind}`,
        );
      }
    },
  },
  {
    id: 'repeated-reference',
    title: 'answers a repeated transaction with the same operatorTransactionId',
    rule: RULES.reference,
    run: async (caller) => {
      for (const order of await oneOfEach(caller)) {
        const first = await referenceOf(caller, order);
        const second = await referenceOf(caller, order);
        if (first === second) continue;
        throw new Unmet(
          `operatorTransactionId ${shown(first)} each time`,
          `${shown(second)} the second time`,
        );
      }
    },
  },
];

/** The operatorTransactionId of the answer, of whatever type; undefined without one. */
async function referenceOf(caller: WalletCaller, order: WalletOrder): Promise<unknown> {
  const { json } = await caller.send(order);
  return json?.['operatorTransactionId'];
}

/** What is wrong with a reference; undefined if it is right or absent. */
function mistakeIn(reference: unknown): string | undefined {
  if (reference === undefined) return undefined;
  if (typeof reference !== 'string') return `${shown(reference)}, which is no text,`;
  const length = [...reference].length;
  if (length === 0) return 'an empty text';
  return length > LONGEST_REFERENCE ? `a text of ${length} characters` : undefined;
}

/** A JSON value, or `none` if it is absent, cut to a length that can be read. */
function shown(reference: unknown): string {
  const text = reference === undefined ? 'none' : JSON.stringify(reference);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
