import { createHash } from 'node:crypto';
import type { Behaviour, ReceivedCall } from '../world/counterpart.js';
import type { LateEnding } from '../world/endings.js';

/** Percentage of calls that the wallet does not answer correctly. */
const MISBEHAVES = 60;
/** Determines everything but the timing. CHAOS_SEED repeats a failed run. */
export const SEED = process.env['CHAOS_SEED'] ?? String(Date.now());

/** A number from 0 to below `below`, the same for the same seed and words. */
export function chosen(below: number, ...words: (string | number)[]): number {
  const digest = createHash('sha256')
    .update([SEED, ...words].join('\n'))
    .digest();
  return digest.readUInt32BE(0) % below;
}

const raw = (balance: string): LateEnding => ({
  do: 'answer-call',
  fields: `"status":"APPROVED","balance":${balance}`,
});
const booked = (then: LateEnding): Behaviour => ({ do: 'book-then', then });

const MISBEHAVIOURS: readonly Behaviour[] = [
  { do: 'hang' },
  { do: 'answer', status: 503 },
  { do: 'drop' },
  { do: 'garbage' },
  { do: 'redirect', to: 'http://127.0.0.1/elsewhere' },
  { do: 'decline', reason: 'LIMIT_REACHED' },
  booked({ do: 'hang' }),
  booked({ do: 'answer', status: 500 }),
  booked({ do: 'drop' }),
  booked({ do: 'truncate' }),
  booked({ do: 'garbage' }),
  booked({ do: 'duplicate-keys' }),
  booked({ do: 'drip', everyMs: 1 }),
  booked({ do: 'reply-twice' }),
  booked({ do: 'reply-twice', afterMs: 2 }),
  booked({ do: 'swap' }),
  { do: 'decline', reason: 'LIMIT_REACHED', then: { do: 'swap' } },
  booked(raw('10.5')),
  booked(raw('"100"')),
  booked(raw('null')),
  booked(raw('9007199254740993')),
  booked(raw('-9007199254740993')),
  booked(raw('1e30')),
];

/** Chooses what the wallet does with a call, by its id and its ordinal. */
export function misbehaviour(): (call: ReceivedCall) => Behaviour | undefined {
  const calls = new Map<string, number>();
  return ({ path, json }) => {
    const what = `${path} ${String(json['transactionId'] ?? json['playerRef'])}`;
    const nth = (calls.get(what) ?? 0) + 1;
    calls.set(what, nth);
    if (chosen(100, 'misbehaves', what, nth) >= MISBEHAVES) return undefined;
    return MISBEHAVIOURS[chosen(MISBEHAVIOURS.length, 'how', what, nth)];
  };
}
