import { describe, expect, onTestFinished, test } from 'vitest';
import { BrokenWallet, type WalletFault } from './support/broken-wallet.js';
import { certify, only, SIGNATURE_REFUSALS } from './support/certified.js';
import { command } from './support/command.js';

async function certified(faults: WalletFault[], ...options: string[]) {
  const wallet = await BrokenWallet.start(...faults);
  onTestFinished(() => wallet.stop());
  const args = ['certify-operator', '--url', wallet.url, '--tenant', wallet.tenantId];
  const players = ['--player', 'player-1', '--other-player', 'player-2', '--unknown-player', 'nobody'];
  const short = ['--slow-ms', '10', '--calls', '5', '--timeout-ms', '1000'];
  return certify([...args, ...players, ...short, ...options], wallet.secret);
}

const REFUSALS = [...SIGNATURE_REFUSALS, 'balance-secret-wrong'];

const SIGNATURE_FAULTS: [WalletFault, string[]][] = [
  ['believes everybody', [...REFUSALS, 'refused-call-books-nothing']],
  ['refuses with 500', REFUSALS],
  ['takes the tenant from the call', ['tenant-wrong']],
  ['ignores the time', ['timestamp-old', 'timestamp-future']],
  ['takes milliseconds too', ['timestamp-milliseconds']],
  ['forgets nonces', ['nonce-replayed', 'nonce-replayed-elsewhere', 'nonce-replayed-at-once']],
  ['remembers nonces by route', ['nonce-replayed-elsewhere']],
  ['claims a nonce before it verifies', ['forged-call-leaves-nonce']],
  ['verifies re-serialised JSON', ['body-spelled-unusually', 'body-spaced']],
  ['verifies the path without its query', ['query-added']],
  ['verifies any of its paths', ['path-changed', 'query-added']],
  ['verifies any method', ['method-changed']],
  ['compares as much of a signature as there is', ['signature-shortened']],
  ['throws at a signature that is not hex', ['signature-malformed']],
  ['knows headers only in their usual spelling', ['headers-lower-case']],
  ['allows a minute', ['clock-behind', 'clock-ahead']],
  ['acts before it verifies', ['refused-call-books-nothing']],
  [
    'believes calls to /balance',
    [
      'path-changed',
      'nonce-replayed',
      'nonce-replayed-elsewhere',
      'nonce-replayed-at-once',
      'balance-secret-wrong',
    ],
  ],
];

const BOOKING_FAULTS: [WalletFault, string[]][] = [
  ['refuses unknown fields', ['body-spelled-unusually', 'balance-unknown-fields', 'bet-unknown-fields']],
  ['opens an account for everybody', ['balance-unknown-player', 'bet-unknown-player']],
  ['answers 404 for an unknown player', ['bet-unknown-player']],
  ['fails at a body that is not JSON', ['balance-malformed', 'bet-malformed']],
  [
    'answers the balance from before',
    ['bet-booked', 'bet-whole-balance', 'win-booked', 'adjustment-credit', 'negative-balance'],
  ],
  ['keeps one unit', ['bet-whole-balance', 'bets-beyond-funds-at-once']],
  [
    'answers a lack of funds with 402',
    [
      'echo-declined',
      'echo-repeated',
      'bet-insufficient-funds',
      'bet-largest-amount',
      'rollback-of-declined',
      'negative-balance',
      'declined-repeated',
      'bets-beyond-funds-at-once',
    ],
  ],
  [
    'gives credit',
    [
      'echo-declined',
      'bet-insufficient-funds',
      'bet-largest-amount',
      'rollback-of-declined',
      'negative-balance',
      'declined-repeated',
      'bets-beyond-funds-at-once',
    ],
  ],
  ['fails beyond 32 bits', ['bet-largest-amount', 'win-beyond-32-bit']],
  ['wraps at 32 bits', ['bet-largest-amount', 'win-beyond-32-bit']],
  ['wraps at 32 bits without a sign', ['win-beyond-32-bit']],
  ['takes negative amounts', ['bet-negative-amount']],
  ['rounds fractions', ['bet-fraction']],
  ['takes any kind for a BET', ['bet-unknown-kind']],
  [
    'takes the money of its first player',
    ['bet-unknown-player', 'bet-other-player', 'one-round-of-two-players'],
  ],
  ['declines a WIN without a BET', ['win-free-spins', 'win-beyond-32-bit']],
  ['takes no WIN of 0', ['win-zero']],
  ['pays once in a round', ['win-twice-in-a-round', 'win-after-round-closed', 'mixed-at-once']],
  ['pays nothing after a round was closed', ['win-after-round-closed']],
  [
    'books no WIN',
    [
      'win-booked',
      'win-free-spins',
      'win-twice-in-a-round',
      'win-after-round-closed',
      'win-beyond-32-bit',
      'win-repeated',
      'mixed-at-once',
      'one-round-of-two-players',
    ],
  ],
  ['books an ADJUSTMENT each time', ['adjustment-repeated', 'repeated-reference']],
  [
    'keys only by transactionId',
    ['rollback-other-provider', 'adjustment-id-of-a-bet', 'same-id-other-provider'],
  ],
  ['fails at a negative balance', ['negative-balance']],
  ['bets at a negative balance', ['negative-balance']],
];

const ROLLBACK_FAULTS: [WalletFault, string[]][] = [
  [
    'rolls back nothing',
    [
      'rollback-reverses',
      'rollback-original-amount',
      'rollback-repeated',
      'rollback-another-id',
      'rollback-leaves-others',
      'rollback-then-bet-again',
      'rollback-after-other-bets',
      'rollback-at-once',
      'rollbacks-at-once',
      'bet-and-rollback-at-once',
    ],
  ],
  ['rolls back the amount that is sent', ['rollback-original-amount']],
  ['rolls back for each id', ['rollback-another-id', 'rollbacks-at-once']],
  ['rolls back the whole round', ['rollback-leaves-others']],
  ['declines the ROLLBACK of a DECLINED BET', ['rollback-of-declined']],
  ['answers 409 to a repeated ROLLBACK of nothing', ['rollback-unknown-repeated', 'repeated-reference']],
  ['leaves a tombstone for one BET', ['rollback-before-bet-repeated']],
  ['books a BET again after its ROLLBACK', ['rollback-then-bet-again']],
  ['looks for a BET under every provider', ['rollback-other-provider']],
  ['rolls back only the latest BET', ['rollback-leaves-others', 'rollback-after-other-bets']],
];

const IDEMPOTENCY_FAULTS: [WalletFault, string[]][] = [
  [
    'books a BET each time',
    [
      'rollback-then-bet-again',
      'bet-repeated',
      'bet-repeated-later',
      'bet-repeated-without-funds',
      'declined-repeated',
      'bet-repeated-another-amount',
      'bet-repeated-another-player',
      'win-with-id-of-bet',
      'ids-punctuation',
      'repeated-reference',
      'bet-at-once',
    ],
  ],
  ['remembers the latest five', ['bet-repeated-later']],
  ['checks the funds of a repeated BET', ['bet-repeated-without-funds', 'repeated-reference']],
  ['decides a declined BET again', ['declined-repeated', 'repeated-reference']],
  ['books a WIN each time', ['win-repeated', 'repeated-reference']],
  [
    'knows a transaction by its amount too',
    ['rollback-before-bet', 'rollback-before-bet-repeated', 'bet-repeated-another-amount'],
  ],
  [
    'knows a transaction by its player too',
    ['rollback-before-bet', 'rollback-before-bet-repeated', 'bet-repeated-another-player'],
  ],
  [
    'knows a transaction by its kind too',
    ['rollback-before-bet', 'rollback-before-bet-repeated', 'win-with-id-of-bet'],
  ],
  ['makes up a reference each time', ['repeated-reference']],
  ['compares ids without case', ['ids-case-sensitive']],
  ['cuts ids at 64 characters', ['ids-longest']],
  ['accepts only letters, digits and hyphens', ['echo-punctuation', 'ids-punctuation']],
  ['identifies a round only by its id', ['one-round-of-two-players']],
  ['answers with text/html', ['answer-content-type']],
];

const ANSWER_FAULTS: [WalletFault, string[]][] = [
  ['names the transaction in lower case', ['echo-case', 'ids-case-sensitive']],
  ['escapes the echo for HTML', ['echo-punctuation', 'ids-punctuation']],
  ['makes up a numeric reference', ['reference-text']],
  ['answers null for a reference', ['reference-text']],
  ['answers an empty reference', ['reference-text']],
  ['answers a reference of 201 characters', ['reference-text']],
  ['forgets the reference of a repetition', ['repeated-reference']],
  ['answers twice at once', ['answers-once']],
];

/**
 * Faults that also fail cases that are not listed here, or that do not fail the same cases in every run. For races and
 * slow cases, only the listed cases run.
 */
const WIDE_FAULTS: [WalletFault, string[], string[]?][] = [
  [
    'names no transaction',
    [
      'echo-bet',
      'echo-declined',
      'echo-adjustment',
      'echo-repeated',
      'echo-case',
      'echo-longest',
      'echo-punctuation',
      'echo-at-once',
    ],
  ],
  ['answers with a Content-Encoding', ['balance-answered', 'balance-echo']],
  ['names no WIN', ['echo-win', 'echo-repeated', 'win-free-spins']],
  ['names no ADJUSTMENT', ['echo-adjustment', 'echo-repeated']],
  ['names no declined transaction', ['echo-declined', 'echo-repeated', 'bet-insufficient-funds']],
  ['names no repeated transaction', ['echo-repeated', 'bet-repeated', 'declined-repeated']],
  ['names the BET in the answer to its ROLLBACK', ['echo-rollback', 'rollback-reverses', 'rollback-unknown']],
  ['cuts the echo at 64 characters', ['echo-longest']],
  ['names no player', ['balance-echo', 'balance-answered', 'balance-unknown-fields']],
  ['names the first player', ['balance-echo-other-player', 'balance-echo-at-once']],
  ['names no currency', ['balance-echo']],
  ['names the currency in lower case', ['balance-echo']],
  [
    'swaps answers under concurrency',
    ['balance-echo-at-once', 'echo-at-once', 'bets-at-once'],
    only('balance-echo-at-once', 'echo-at-once', 'bets-at-once'),
  ],
  ['answers once too often', ['answers-once'], only('answers-once')],
  ['decodes the secret as base64', ['signed-call']],
  ['answers the balance as a text', ['balance-answered', 'balance-unknown-fields']],
  ['takes a fee for a balance', ['balance-repeated', 'balance-at-once', 'bet-booked', 'adjustment-debit']],
  ['answers one balance at a time', ['balance-at-once']],
  ['takes no BET of 0', ['bet-zero']],
  ['rolls back again each time', ['rollback-repeated', 'rollback-at-once']],
  ['declines a ROLLBACK of nothing', ['rollback-unknown']],
  ['answers 404 to a ROLLBACK of nothing', ['rollback-unknown']],
  ['leaves no tombstone', ['rollback-before-bet', 'rollback-before-bet-repeated']],
  ['knows no ADJUSTMENT', ['adjustment-credit', 'adjustment-debit', 'adjustment-repeated']],
  ['adjusts only upwards', ['adjustment-debit']],
  ['looks up a BET before it writes it down', ['bet-at-once'], only('bet-at-once')],
  ['declines a BET that is being booked', ['bet-at-once'], only('bet-at-once')],
  [
    'reads the balance before it writes it',
    ['bets-at-once', 'mixed-at-once'],
    only('bets-at-once', 'mixed-at-once'),
  ],
  ['checks the funds before it books', ['bets-beyond-funds-at-once'], only('bets-beyond-funds-at-once')],
  ['looks up a ROLLBACK before it writes it down', ['rollback-at-once'], only('rollback-at-once')],
  ['looks up a target before it writes it down', ['rollbacks-at-once'], only('rollbacks-at-once')],
  ['books a BET while its ROLLBACK passes', ['bet-and-rollback-at-once'], only('bet-and-rollback-at-once')],
  ['looks up a nonce before it writes it down', ['nonce-replayed-at-once'], only('nonce-replayed-at-once')],
  ['reads what comes at once', ['slow-body', 'calls-at-once'], only('slow-body', 'calls-at-once')],
  ['handles one call at a time', ['calls-at-once'], only('calls-at-once')],
  ['works on one call at a time, slowly', ['calls-in-parallel'], only('calls-in-parallel')],
  ['forgets the fifth call of a connection', ['calls-in-a-row'], only('calls-in-a-row')],
  ['takes 30 ms', ['latency'], ['--timeout-ms', '50', '--only', 'latency']],
];

const NARROW_FAULTS = [
  SIGNATURE_FAULTS,
  BOOKING_FAULTS,
  ROLLBACK_FAULTS,
  IDEMPOTENCY_FAULTS,
  ANSWER_FAULTS,
].flat();

test('a wallet without a fault fails nothing', async () => {
  expect(await certified([])).toMatchObject({ status: 0, failed: [], blocked: [] });
});

test.each(['gives no reference', 'closes each connection', 'begins with a byte order mark'] as const)(
  'a wallet that %s fails nothing',
  async (peculiarity) => {
    expect(await certified([peculiarity])).toMatchObject({ status: 0, failed: [], blocked: [] });
  },
);

describe('a wallet that', () => {
  test.each(NARROW_FAULTS)('%s fails exactly %j', async (fault, failed) => {
    expect(await certified([fault])).toMatchObject({ status: 1, failed, blocked: [] });
  });

  test.each(WIDE_FAULTS)('%s fails at least %j', async (fault, expected, options = []) => {
    const { status, failed } = await certified([fault], ...options);
    expect(status).toBe(1);
    expect(failed).toEqual(expect.arrayContaining(expected));
  });

  test('decodes the secret gets that diagnosis', async () => {
    const { printed } = await certified(['decodes the secret as base64'], '--only', 'signed-call');
    expect(printed).toContain('check     Your server verifies with the secret decoded as base64');
  });

  test('answers in a way that the platform takes for no answer gets an explanation', async () => {
    const { printed } = await certified(
      ['answers a lack of funds with 402'],
      '--only',
      'bet-insufficient-funds',
    );
    expect(printed).toContain('check     The platform takes any other answer as no answer');
  });

  test.each<[WalletFault, string, ...RegExp[]]>([
    [
      'names no transaction',
      'echo-bet',
      /expected {2}an answer with transactionId "certify-\w+-bet-\d+"/,
      /received {2}no transactionId in status 200 \{"status":"APPROVED"/,
      /check {5}The platform takes a misdirected answer, which names another call or none, as no answer/,
    ],
    [
      'names the transaction in lower case',
      'echo-case',
      /expected {2}an answer with transactionId "certify-\w+-Case-\d+-aBcXyZ"/,
      /received {2}transactionId "certify-\w+-case-\d+-abcxyz" in status 200/,
    ],
    [
      'names no currency',
      'balance-echo',
      /expected {2}an answer with currency "EUR"/,
      /received {2}no currency in status 200/,
    ],
    ['makes up a numeric reference', 'reference-text', /received {2}\d+, which is no text, for the BET/],
    ['answers null for a reference', 'reference-text', /received {2}null, which is no text, for the BET/],
    ['answers an empty reference', 'reference-text', /received {2}an empty text for the BET/],
    [
      'answers a reference of 201 characters',
      'reference-text',
      /received {2}a text of 201 characters for the BET/,
    ],
    ['forgets the reference of a repetition', 'repeated-reference', /received {2}none the second time/],
    [
      'answers twice at once',
      'answers-once',
      /received {2}more bytes after the answer to POST \/\w+, certify-\w+-request-\d+, and after \d+ other/,
    ],
  ])('%s is told so by %s', async (fault, id, ...sentences) => {
    const { printed } = await certified([fault], ...only(id));
    for (const sentence of sentences) expect(printed).toMatch(sentence);
  });
});

test('every case has a wallet that fails it', async () => {
  const { printed } = await command(['certify-operator', '--list']);
  const ids = printed.split('\n').map((line) => line.split(/ +/)[1]);
  const proven = new Set([...NARROW_FAULTS, ...WIDE_FAULTS].flatMap(([, failed]) => failed));
  expect(ids.length).toBeGreaterThanOrEqual(60);
  expect(ids.filter((id) => !proven.has(id ?? ''))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});
