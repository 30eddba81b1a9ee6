import { setTimeout as delay } from 'node:timers/promises';
import type { ServerFault } from '../../broken-server.js';
import { SIGNATURE_REFUSALS } from '../../certified.js';
import { type Booking, type Change, correct } from '../reference-wallet.js';
import type { WalletBug } from '../wallet-bug.js';

/** A mistake of the server, which the fault names. */
const fault = (name: ServerFault, failsCases: readonly string[], options?: readonly string[]): WalletBug => ({
  bug: name,
  fault: name,
  failsCases,
  ...(options && { options }),
});

const REFUSALS = [...SIGNATURE_REFUSALS, 'balance-secret-wrong'];

export const SIGNATURE_BUGS: WalletBug[] = [
  fault('believes everybody', [...REFUSALS, 'refused-call-books-nothing']),
  fault('refuses with 500', REFUSALS),
  fault('takes the tenant from the call', ['tenant-wrong', 'tenant-similar']),
  fault('compares the tenant regardless of case', ['tenant-similar']),
  fault('ignores the time', ['timestamp-old', 'timestamp-future']),
  fault('takes milliseconds too', ['timestamp-milliseconds']),
  fault('takes any text for a time', ['timestamp-no-number']),
  fault('ignores what follows a signature', ['signature-extended']),
  fault('takes an empty signature', ['headers-empty']),
  fault('compares nonces regardless of case', ['nonce-case']),
  fault('forgets nonces', [
    'nonce-replayed',
    'nonce-replayed-elsewhere',
    'nonce-replayed-at-once',
    'nonce-remembered',
  ]),
  fault('remembers nonces by route', ['nonce-replayed-elsewhere']),
  fault('looks up a nonce before it writes it down', ['nonce-replayed-at-once']),
  fault('claims a nonce before it verifies', ['forged-call-leaves-nonce']),
  fault('verifies re-serialised JSON', ['body-spelled-unusually', 'body-spaced']),
  fault('verifies the path without its query', ['query-added']),
  fault('verifies any of its paths', ['path-changed', 'query-added']),
  fault('verifies any method', ['method-changed']),
  fault('compares as much of a signature as there is', ['signature-shortened']),
  fault('throws at a signature that is not hex', ['signature-malformed']),
  fault('knows headers only in their usual spelling', ['headers-lower-case']),
  fault('allows a minute', ['clock-behind', 'clock-ahead']),
  fault('decodes the secret as base64', ['signed-call']),
  fault('acts before it verifies', ['refused-call-books-nothing']),
  fault('believes calls to /balance', [
    'path-changed',
    'nonce-replayed',
    'nonce-replayed-elsewhere',
    'nonce-replayed-at-once',
    'balance-secret-wrong',
    'nonce-remembered',
  ]),
  fault('remembers a nonce for a moment', ['nonce-remembered'], ['--patience-seconds', '1']),
];

export const TRANSPORT_BUGS: WalletBug[] = [
  fault('answers with text/html', ['answer-content-type']),
  fault('answers with a Content-Encoding', ['balance-answered', 'balance-echo']),
  fault('needs an X-Request-Id', ['request-id-absent']),
  fault('answers twice at once', ['answers-once']),
  fault('answers once too often', ['answers-once']),
  fault('reads what comes at once', ['slow-body', 'calls-at-once', 'split-character']),
  fault('decodes each chunk', ['split-character']),
  fault('handles one call at a time', ['calls-at-once']),
  fault('works on one call at a time, slowly', ['calls-in-parallel']),
  fault('answers at most ten calls at once', ['many-calls-at-once']),
  fault('forgets the fifth call of a connection', ['calls-in-a-row'], ['--timeout-ms', '1000']),
  fault('closes idle connections', ['idle-connection']),
  fault('closes idle connections earlier than announced', ['idle-connection']),
  fault('takes 300 ms', ['latency'], ['--timeout-ms', '500', '--calls', '40']),
  fault('goes down if a body breaks off', ['bet-half-sent'], ['--timeout-ms', '1000', '--slow-ms', '100']),
  {
    bug: 'fails at a body that is not JSON',
    change: () => ({
      serve(path, raw, request) {
        return this.bodyOf(raw)
          ? correct.serve.call(this, path, raw, request)
          : Promise.resolve({ status: 500, body: '' });
      },
    }),
    failsCases: ['balance-malformed', 'bet-malformed'],
  },
  {
    bug: 'goes down at the body null',
    change: () => {
      let isDown = false;
      return {
        serve(path, raw, request) {
          isDown ||= raw === 'null';
          return isDown
            ? Promise.resolve({ status: 502, body: '' })
            : correct.serve.call(this, path, raw, request);
        },
      };
    },
    failsCases: ['alive-after-invalid-bodies'],
  },
];

/** The test replaces COMMAND by one that restarts the wallet. */
const RESTARTS = ['--restart-command', 'COMMAND'];

export const RESTART_BUGS: WalletBug[] = [
  {
    bug: 'loses the latest WIN when it is restarted',
    change: () => ({
      restart() {
        const wins = [...this.bookings.values()].filter(({ order }) => order.kind === 'WIN');
        const latest = wins.at(-1);
        if (!latest) return;
        this.bookings.delete(this.keyOfOrder(latest.order));
        const account = this.accountOfOrder(latest.order);
        this.store(account, this.load(account), -latest.movedMinor);
      },
    }),
    failsCases: ['restart-keeps-bookings'],
    options: RESTARTS,
  },
  {
    bug: 'forgets ids when it is restarted',
    change: () => ({
      restart() {
        this.bookings.clear();
      },
    }),
    failsCases: ['restart-keeps-bookings'],
    options: RESTARTS,
  },
  {
    bug: 'forgets tombstones when it is restarted',
    change: () => ({
      restart() {
        for (const key of this.rolledBack) if (!this.bookings.has(key)) this.rolledBack.delete(key);
      },
    }),
    failsCases: ['restart-keeps-bookings'],
    options: RESTARTS,
  },
  {
    bug: 'remembers the ids but not the money of calls under way when it is restarted',
    change: () => interrupted(300),
    failsCases: ['restart-during-calls'],
    options: [...RESTARTS, '--timeout-ms', '2000'],
  },
  {
    bug: 'books quickly, and remembers the ids but not the money of calls under way when it is restarted',
    change: () => interrupted(5),
    failsCases: ['restart-during-calls'],
    options: RESTARTS,
  },
  {
    bug: 'loses the bookings of the last 50 ms when it is restarted, but books them when they are repeated',
    change: () => {
      const bookedAtMs = new WeakMap<Booking, number>();
      return {
        remember(booking) {
          bookedAtMs.set(booking, Date.now());
          correct.remember.call(this, booking);
        },
        restart() {
          const isLost = (booking: Booking) => Date.now() - (bookedAtMs.get(booking) ?? 0) < 50;
          for (const lost of [...this.bookings.values()].filter(isLost)) {
            this.bookings.delete(this.keyOfOrder(lost.order));
            const account = this.accountOfOrder(lost.order);
            this.store(account, this.load(account), -lost.movedMinor);
          }
        },
      };
    },
    failsCases: ['restart-during-calls'],
    options: RESTARTS,
  },
];

/** Writes the id of a WIN first and its money later, unless a restart comes in between. */
function interrupted(laterMs: number): Change {
  return {
    async record(order, verdict, request) {
      this.remember({ ...verdict, order, reference: this.newReference() });
      const { bookings } = this;
      await delay(order.kind === 'WIN' ? laterMs : 0);
      if (bookings !== this.bookings) throw new Error('restarted');
      return correct.record.call(this, order, verdict, request);
    },
    restart() {
      this.bookings = new Map(this.bookings);
    },
  };
}
