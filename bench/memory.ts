import { createHash } from 'node:crypto';
import type { Contestant } from './contestants.js';
import { Load, Stock } from './load.js';
import { bet, type Caller, verify } from './requests.js';
import { memoryOf } from './usage.js';
import { SESSIONS } from './world.js';

const CONNECTIONS = 32;
/** Number of requests signed in advance: they must be sent within the signature's window. */
const PORTION = 10_000;
/** One request in this many is a BET; the others are verifies, which are faster. */
const ONE_BET_IN = 10;
const SHARES = [0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

export interface MemoryAfter {
  readonly requests: number;
  /**
   * Seconds since the first request. They matter because the service remembers each nonce for the time that its
   * contract requires.
   */
  readonly seconds: number;
  readonly memoryMiB: number;
}

/** Resident memory of a server while it answers requests. */
export async function memoryAfter(
  { port, pid }: Contestant,
  caller: Caller,
  requests: number,
): Promise<MemoryAfter[]> {
  const started = performance.now();
  const look = async (sent: number): Promise<MemoryAfter> => ({
    requests: sent,
    seconds: (performance.now() - started) / 1000,
    memoryMiB: (await memoryOf(pid)) / 2 ** 20,
  });
  const looks = [await look(0)];
  const marks = SHARES.map((share) => Math.round(share * requests));
  const load = await Load.open(port, CONNECTIONS);
  for (let sent = 0; sent < requests;) {
    const to = Math.min(sent + PORTION, marks.find((mark) => mark > sent) ?? requests);
    const portion = Array.from({ length: to - sent }, (_, index) => {
      const n = sent + index;
      const session = n % SESSIONS;
      if (n % ONE_BET_IN > 0) return verify(caller, session);
      return bet(caller, session, createHash('md5').update(`memory ${n}`).digest('hex'));
    });
    await load.closed(new Stock(portion), Infinity);
    sent = to;
    if (marks.includes(sent)) looks.push(await look(sent));
  }
  load.close();
  return looks;
}
