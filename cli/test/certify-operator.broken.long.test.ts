import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ok } from './support/broken-server.js';
import { type AtEnd, certify, longRun, only, reportFolder, type Surroundings } from './support/certified.js';
import { command } from './support/command.js';
import { ACCOUNT_BUGS } from './support/wallet/bugs/account-bugs.js';
import { AMOUNT_BUGS } from './support/wallet/bugs/amount-bugs.js';
import { ANSWER_BUGS } from './support/wallet/bugs/answer-bugs.js';
import { BOOKING_BUGS } from './support/wallet/bugs/booking-bugs.js';
import { CONCURRENCY_BUGS } from './support/wallet/bugs/concurrency-bugs.js';
import { IDENTIFIER_BUGS } from './support/wallet/bugs/identifier-bugs.js';
import { REPETITION_BUGS } from './support/wallet/bugs/repetition-bugs.js';
import { ROLLBACK_BUGS } from './support/wallet/bugs/rollback-bugs.js';
import { RESTART_BUGS, SIGNATURE_BUGS, TRANSPORT_BUGS } from './support/wallet/bugs/transport-bugs.js';
import { UNDETECTABLE_BUGS } from './support/wallet/bugs/undetectable-bugs.js';
import { type Change, correct, declined, ReferenceWallet } from './support/wallet/reference-wallet.js';
import type { WalletBug } from './support/wallet/wallet-bug.js';

const UNTIMED_BUGS = [
  ...SIGNATURE_BUGS,
  ...AMOUNT_BUGS,
  ...BOOKING_BUGS,
  ...ROLLBACK_BUGS,
  ...ACCOUNT_BUGS,
  ...REPETITION_BUGS,
  ...IDENTIFIER_BUGS,
  ...ANSWER_BUGS,
];
/** Their cases are about load and timing, which a wallet beside them would disturb. */
const TIMED_BUGS = [...CONCURRENCY_BUGS, ...TRANSPORT_BUGS, ...RESTART_BUGS];
const BUGS = [...UNTIMED_BUGS, ...TIMED_BUGS];
/** Time-out of a test that runs every case, on a busy machine. */
const WHOLE_RUN_MS = 600_000;
/** Other test files run beside this one, so that a wallet may answer more slowly. */
const ON_BUSY_MACHINE = ['--timeout-ms', '10000'];
/** Minimum share of the planted bugs that the cases must detect. */
const LEAST_DETECTION = 0.95;

async function certified(
  { change, fault }: Pick<WalletBug, 'change' | 'fault'>,
  options: readonly string[] = [],
  atEnd: AtEnd = onTestFinished,
  surroundings?: Surroundings,
) {
  // The clock of a simulated run is not that of the wallet.
  const faults = [
    ...(fault === undefined ? [] : [fault]),
    ...(surroundings?.now ? ['ignores the time'] : []),
  ];
  const wallet = await ReferenceWallet.start(change?.(), faults);
  atEnd(() => wallet.stop());
  const args = ['certify-operator', '--url', wallet.url, '--tenant', wallet.tenantId];
  const players = ['--player', 'player-1', '--other-player', 'player-2', '--unknown-player', 'nobody'];
  const short = ['--slow-ms', '10', '--calls', '5', '--timeout-ms', '3000', '--patience-seconds', '0'];
  const own = options.map((option) => (option === 'COMMAND' ? wallet.restartCommand : option));
  const all = [...args, ...players, '--other-currency', 'USD', ...short, ...own];
  return certify(all, wallet.secret, atEnd, surroundings);
}

// One after the other: some cases are about load and timing, which a wallet beside them would disturb.
describe('a correct wallet fails nothing', () => {
  /** Its database takes a few milliseconds, and its answers a few more. */
  const busy: Change = {
    pause: () => delay(Math.random() * 8),
    async serve(path, raw, request) {
      await delay(Math.random() * 10);
      const reply = await correct.serve.call(this, path, raw, request);
      await delay(Math.random() * 10);
      return reply;
    },
  };
  const withoutReasons: Change = {
    answer(order, { reason: _, ...booking }, isRepeated, request) {
      return correct.answer.call(this, order, booking, isRepeated, request);
    },
  };

  test.for<[string, Pick<WalletBug, 'change' | 'fault'>]>([
    ['on a busy machine', { change: () => busy }],
    ['as fast as memory', {}],
    ['without references', { change: () => ({ referenceOf: () => undefined }) }],
    ['without reasons', { change: () => withoutReasons }],
    ['with reasons of its own', { change: ownReasons }],
    ['that never takes a balance below zero', { change: neverBelowZero }],
    ['that answers 400 to a known id with other fields', { change: refusesOtherFields }],
    ['that answers repetitions with the balance of the first answer', { change: firstBalances }],
    ['that shows unknown players a balance of 0', { change: zeroBalances }],
    ['that answers 409 while the same transaction is under way', { change: conflicts }],
    ['that answers 503 while the account is busy', { change: busyAccounts }],
    ['that holds at most a million', { change: largestBalance }],
    ['that is away for a moment when it is restarted', { change: awayAtRestart }],
    ['that drops the first calls after a restart, and their first repetitions', { change: coldAtRestart }],
    ['whose answers have null instead of no reason', { change: nullReasons }],
    ['that closes each connection', { fault: 'closes each connection' }],
    ['that begins with a byte order mark', { fault: 'begins with a byte order mark' }],
    ['that refuses with 403', { fault: 'refuses with 403' }],
  ])('%s', { timeout: WHOLE_RUN_MS }, async ([, wallet], { onTestFinished: atEnd }) => {
    const options = [...ON_BUSY_MACHINE, '--restart-command', 'COMMAND'];
    const { status, failed, blocked, printed } = await certified(wallet, options, atEnd);
    expect({ status, failed, blocked }).toEqual({ status: 0, failed: [], blocked: [] });
    expect(printed).toMatch(/ 0 skipped\nThe integration is certified\. Options that test less /);
  });
});

const named = (bugs: readonly WalletBug[]) => bugs.map((each) => [each.bug, each] as const);

async function expectFound({ failsCases, options = [], ...wallet }: WalletBug, atEnd: AtEnd) {
  const { status, failed, blocked } = await certified(wallet, [...options, ...only(...failsCases)], atEnd);
  expect(status).toBe(1);
  expect({ failed: failed.toSorted(), blocked }).toEqual({ failed: failsCases.toSorted(), blocked: [] });
}

describe.concurrent('beside others, a wallet that', () => {
  test.for(named(UNTIMED_BUGS))('%s', ([, bug], { onTestFinished: atEnd }) => expectFound(bug, atEnd));
});

describe('alone, a wallet fails nothing that', () => {
  test.for(UNDETECTABLE_BUGS.map((each) => [each.bug, each.why, each] as const))(
    '%s: %s',
    { timeout: WHOLE_RUN_MS },
    async ([, , wallet], { onTestFinished: atEnd }) => {
      expect(await certified(wallet, ON_BUSY_MACHINE, atEnd)).toMatchObject({
        status: 0,
        failed: [],
        blocked: [],
      });
    },
  );
});

describe('alone, a wallet that', () => {
  test.for(named(TIMED_BUGS))('%s', ([, bug], { onTestFinished: atEnd }) => expectFound(bug, atEnd));
});

test.each<[string, Pick<WalletBug, 'fault'>, string[]]>([
  ['a correct wallet passes', {}, []],
  ['a wallet that forgets it fails', { fault: 'remembers a nonce for a moment' }, ['nonce-remembered']],
])('ten minutes after the first call, the nonce of a new call is repeated: %s', async (_, wallet, failed) => {
  const options = ['--patience-seconds', '1', ...only('first-of-each-kind', 'nonce-remembered')];
  const result = await certified(wallet, options, onTestFinished, longRun());
  expect(result.failed).toEqual(failed);
  expect(result.printed).toContain(`${2 - failed.length} passed, ${failed.length} failed`);
});

test('a wallet that closes idle connections as it announces keeps the rule', async () => {
  // Longer than the wallet announces, so that it closes the connection unless the case ends before.
  const surroundings = { idleMs: 3_000 };
  const wallet = { fault: 'closes idle connections as announced' } as const;
  const { failed } = await certified(wallet, only('idle-connection'), onTestFinished, surroundings);
  expect(failed).toEqual([]);
});

test('a restart without an interruption is noted', async () => {
  const folder = await reportFolder();
  const [html, junit] = [join(folder, 'certificate.html'), join(folder, 'junit.xml')];
  const options = ['--restart-command', 'true', '--html', html, '--junit', junit];
  const { status, printed } = await certified({}, [...options, ...only('restart-during-calls')]);
  expect(status).toBe(0);
  for (const report of [printed, await readFile(html, 'utf8'), await readFile(junit, 'utf8')])
    expect(report).toMatch(/No interruption was seen: all \d+ WINs during the restart were answered\./);
  const verified = await command(['verify-certificate', html]);
  expect(verified.status).toBe(0);
  expect(verified.printed).toMatch(/Restarts +not tested/);
});

test('WINs that get no answer during a restart are counted', async () => {
  const options = ['--restart-command', 'COMMAND', ...only('restart-during-calls')];
  const { printed } = await certified({ change: coldAtRestart }, options);
  expect(printed).toMatch(/note {6}[1-9]\d* of \d+ WINs during the restart were not answered\./);
});

test('at least 100 bugs are planted, and at least 95 % of all can be found', () => {
  const planted = BUGS.length + UNDETECTABLE_BUGS.length;
  expect(BUGS.length).toBeGreaterThanOrEqual(100);
  expect(new Set(BUGS.map(({ bug }) => bug)).size).toBe(BUGS.length);
  expect(BUGS.length / planted).toBeGreaterThanOrEqual(LEAST_DETECTION);
});

test('every case has a wallet that fails it', async () => {
  const { printed } = await command(['certify-operator', '--list']);
  const ids = printed.split('\n').flatMap((line) => /^\w+ +([a-z0-9-]+) +\S/.exec(line)?.[1] ?? []);
  const proven = new Set(BUGS.flatMap(({ failsCases }) => failsCases));
  expect(ids.length).toBeGreaterThanOrEqual(200);
  expect(ids.filter((id) => !proven.has(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test('a wallet that decodes the secret gets that diagnosis', async () => {
  const { printed } = await certified({ fault: 'decodes the secret as base64' }, only('signed-call'));
  expect(printed).toContain('check     Your server verifies with the secret decoded as base64');
});

test.each<[bug: string, id: string, ...sentences: RegExp[]]>([
  [
    'names no transaction',
    'echo-bet',
    /expected {2}an answer with transactionId "certify-\w+-bet-\d+"/,
    /received {2}no transactionId in status 200 \{"status":"APPROVED"/,
    /check {5}The platform takes a misdirected answer, which names another call or none, as no answer/,
  ],
  [
    'names no currency',
    'balance-echo',
    /expected {2}an answer with currency "EUR"/,
    /received {2}no currency in status 200/,
  ],
  ['gives a number as its reference', 'reference-text', /received {2}\d+, which is no text, for the BET/],
  ['gives an empty reference', 'reference-text', /received {2}an empty text for the BET/],
  [
    'gives a reference of 201 characters',
    'reference-text',
    /received {2}a text of 201 characters for the BET/,
  ],
  [
    'answers a lack of money with 402',
    'bet-insufficient-funds',
    /check {5}The platform takes any other answer as no answer/,
  ],
  [
    'spells reasons in camel case',
    'reason-funds',
    /expected {2}the reason INSUFFICIENT_FUNDS, or a text of your own\n {4}received {2}"insufficientFunds"/,
  ],
  [
    'answers twice at once',
    'answers-once',
    /received {2}more bytes after the answer to POST \/\w+, certify-\w+-request-\d+, and after \d+ other/,
  ],
])('a wallet that %s is told so by %s', async (bug, id, ...sentences) => {
  const wallet = BUGS.find((each) => each.bug === bug);
  const { printed } = await certified(wallet ?? {}, only(id));
  for (const sentence of sentences) expect(printed).toMatch(sentence);
});

function ownReasons(): Change {
  return {
    answer(order, booking, isRepeated, request) {
      const own = booking.reason === undefined ? booking : { ...booking, reason: 'Sorry, no.' };
      return correct.answer.call(this, order, own, isRepeated, request);
    },
  };
}

function neverBelowZero(): Change {
  return {
    judgeAdjustment(order) {
      const isBelow = this.fundsOf(order) + order.amountMinor < 0;
      return isBelow ? declined('INSUFFICIENT_FUNDS') : correct.judgeAdjustment.call(this, order);
    },
  };
}

function refusesOtherFields(): Change {
  return {
    async book(order, request) {
      const known = await this.find(order, request);
      const isOther = known && JSON.stringify(known.order) !== JSON.stringify(order);
      return isOther
        ? { status: 400, body: { error: 'another transaction has this id' } }
        : correct.book.call(this, order, request);
    },
  };
}

function firstBalances(): Change {
  const first = new WeakMap<object, unknown>();
  return {
    shownBalance(order, booking, isRepeated) {
      if (!isRepeated) first.set(booking, correct.shownBalance.call(this, order, booking, isRepeated));
      return first.get(booking);
    },
  };
}

function zeroBalances(): Change {
  return {
    answerNoAccount: ({ playerRef, currency }) => ok({ playerRef, currency, balance: 0 }),
  };
}

function conflicts(): Change {
  const underWay = new Set<string>();
  return {
    async serve(path, raw, request) {
      const key = path + raw;
      if (path === '/transaction' && underWay.has(key)) return { status: 409, body: '' };
      underWay.add(key);
      await delay(2);
      try {
        return await correct.serve.call(this, path, raw, request);
      } finally {
        underWay.delete(key);
      }
    },
  };
}

function busyAccounts(): Change {
  const busy = new Set<string>();
  return {
    locksOf: () => [],
    async book(order, request) {
      const account = this.accountOfOrder(order);
      if (busy.has(account)) return { status: 503, body: '' };
      busy.add(account);
      try {
        await delay(2);
        return await correct.book.call(this, order, request);
      } finally {
        busy.delete(account);
      }
    },
  };
}

function largestBalance(): Change {
  const largestMinor = 100_000_000;
  return {
    credit(order) {
      const isTooLarge = this.fundsOf(order) + order.amountMinor > largestMinor;
      return isTooLarge ? declined('LIMIT_REACHED') : correct.credit.call(this, order);
    },
  };
}

function awayAtRestart(): Change {
  let [restarts, returnsAtMs] = [0, 0];
  return {
    async serve(path, raw, request) {
      if (Date.now() < returnsAtMs) return { status: 503, body: '' };
      return correct.serve.call(this, path, raw, request);
    },
    async judge(order, request) {
      const began = restarts;
      await delay(2);
      if (began !== restarts) throw new Error('restarted before the booking');
      return correct.judge.call(this, order, request);
    },
    restart() {
      restarts += 1;
      returnsAtMs = Date.now() + 100;
    },
  };
}

function coldAtRestart(): Change {
  let drops = 0;
  const droppedOnce = new Set<unknown>();
  return {
    serve(path, raw, request) {
      const id = this.bodyOf(raw)?.['transactionId'];
      if (path === '/transaction' && drops > 0) {
        drops -= 1;
        droppedOnce.add(id);
      } else if (!droppedOnce.delete(id)) {
        return correct.serve.call(this, path, raw, request);
      }
      request.socket.destroy();
      return Promise.resolve({ status: 0, body: '' });
    },
    restart() {
      drops = 3;
    },
  };
}

function nullReasons(): Change {
  let answers = 0;
  return {
    async answer(order, booking, isRepeated, request) {
      const reply = await correct.answer.call(this, order, booking, isRepeated, request);
      // Without a reason, every second answer has null, and the others have no field.
      const reason = (answers += 1) % 2 === 0 ? null : undefined;
      return { ...reply, body: { ...(reply.body as object), reason } };
    },
  };
}
