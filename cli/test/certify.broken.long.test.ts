import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BrokenProvider, type Fault, PLAY_PATH } from './support/broken-provider.js';
import { certify, longRun, only, reportFolder, SIGNATURE_REFUSALS } from './support/certified.js';
import { command } from './support/command.js';

async function started(...faults: Fault[]): Promise<BrokenProvider> {
  const provider = await BrokenProvider.start(...faults);
  onTestFinished(() => provider.stop());
  return provider;
}

async function certified(faults: Fault[], ...options: string[]) {
  return certify(...(await argumentsFor(faults, options)));
}

async function argumentsFor(faults: Fault[], options: string[]): Promise<[args: string[], secret: string]> {
  const { tenantId, secret, url } = await started(...faults);
  const args = ['certify', '--webhook-base-url', url, '--tenant', tenantId, '--play-path', PLAY_PATH];
  const short = ['--slow-ms', '10', '--patience-seconds', '0', '--calls', '20'];
  return [[...args, ...short, ...options], secret];
}

test('a provider without a fault fails nothing', async () => {
  expect(await certified([])).toMatchObject({ status: 0, failed: [], blocked: [] });
});

/** The cases of providers that fail at a server that accepts every signature. */
const CALLBACK_REFUSALS = [
  'every-route-secret',
  'every-route-tenant',
  'every-route-old',
  'every-route-future',
  'every-route-body',
  'every-route-empty-body',
  'every-route-unsigned',
  'every-route-nonce',
];

/** The cases that read the remaining spins of a batch. */
const STATUS_READERS = [
  'refused-call-changes-nothing',
  'refused-grant-books-nothing',
  'grant-one-spin',
  'grant-many-spins',
  'grant-after-grant',
  'grant-repeated-adds-nothing',
  'grant-repeated-at-once-adds-nothing',
  'grant-other-terms-change-nothing',
  'grant-other-terms-at-once',
  'grant-repeated-after-spin',
  'grant-repeated-after-last-spin',
  'status-after-grant',
  'status-repeated',
  'status-at-once',
  'status-another-player',
  'status-another-game',
  'status-similar-reference',
  'status-incomplete',
  'status-after-spin',
  'status-after-last-spin',
  'cancel-voids-spins',
  'cancel-at-once',
  'cancel-leaves-others',
  'cancel-then-grant',
  'cancel-and-grant-at-once',
  'cancel-another-player',
  'cancel-another-game',
  'cancel-similar-reference',
  'cancel-incomplete',
  'cancel-after-spins',
  'cancel-after-last-spin',
  'play-after-last-spin',
  'plays-at-once',
  'grant-answer-lost',
  'cancel-answer-lost',
  'latency',
  'first-grant-repeated',
  'first-cancel-repeated',
];

test.each<[Fault, string[]]>([
  [
    'believes everybody',
    [
      ...SIGNATURE_REFUSALS,
      'refused-call-changes-nothing',
      'refused-grant-books-nothing',
      ...CALLBACK_REFUSALS,
      'first-nonce-replayed',
    ],
  ],
  ['takes the tenant from the call', ['tenant-wrong', 'tenant-similar', 'every-route-tenant']],
  ['ignores the time', ['timestamp-old', 'timestamp-future', 'every-route-old', 'every-route-future']],
  ['takes milliseconds too', ['timestamp-milliseconds']],
  [
    'forgets nonces',
    [
      'nonce-replayed',
      'nonce-replayed-elsewhere',
      'nonce-replayed-at-once',
      'every-route-nonce',
      'first-nonce-replayed',
    ],
  ],
  ['remembers nonces by route', ['nonce-replayed-elsewhere']],
  ['verifies re-serialised JSON', ['body-spelled-unusually', 'body-spaced', 'grant-repeated-spelled-anew']],
  ['verifies the body trimmed', ['body-spelled-unusually', 'body-spaced']],
  ['verifies the path without its query', ['query-added']],
  ['verifies any of its paths', ['path-changed', 'query-added']],
  ['verifies any method', ['method-changed']],
  ['compares as much of a signature as there is', ['signature-shortened']],
  ['throws at a signature that is not hex', ['signature-malformed']],
  ['knows headers only in their usual spelling', ['headers-lower-case']],
  ['allows a minute', ['clock-behind', 'clock-ahead']],
  ['refuses with 403', [...SIGNATURE_REFUSALS, ...CALLBACK_REFUSALS, 'first-nonce-replayed']],
  ['acts before it verifies', ['refused-call-changes-nothing', 'refused-grant-books-nothing']],
  [
    'refuses unknown fields',
    [
      'body-spelled-unusually',
      'grant-unknown-fields',
      'grant-repeated-spelled-anew',
      'status-unknown-fields',
      'cancel-unknown-fields',
      'revoke-unknown-fields',
    ],
  ],
  [
    'grants again each time',
    [
      'grant-reference-case',
      'grant-reference-long',
      'grant-reference-characters',
      'grant-repeated',
      'grant-repeated-spelled-anew',
      'grant-repeated-at-once',
      'grant-other-terms',
      'grant-other-terms-at-once',
      'grant-repeated-after-last-spin',
      'cancel-then-grant-reference',
      'grant-answer-lost',
      'first-grant-repeated',
      'first-cancel-repeated',
    ],
  ],
  [
    'adds the spins of a repeated grant',
    [
      'grant-repeated-adds-nothing',
      'grant-repeated-at-once-adds-nothing',
      'grant-other-terms-change-nothing',
      'grant-repeated-after-spin',
      'grant-repeated-after-last-spin',
      'cancel-then-grant',
      'cancel-and-grant-at-once',
      'grant-answer-lost',
      'first-grant-repeated',
      'first-cancel-repeated',
    ],
  ],
  [
    'fills up at a repeated grant',
    [
      'grant-repeated-after-spin',
      'grant-repeated-after-last-spin',
      'cancel-then-grant',
      'cancel-and-grant-at-once',
      'first-cancel-repeated',
    ],
  ],
  [
    'numbers all batches alike',
    [
      'grants-at-once',
      'grant-after-grant',
      'grant-reference-case',
      'grant-reference-long',
      'grant-reference-characters',
      'cancel-leaves-others',
      'first-grant-repeated',
    ],
  ],
  ['answers a status without completed', STATUS_READERS],
  ['takes a status for a spin', STATUS_READERS.filter((id) => id !== 'latency')],
  ['knows no default stake', ['grant-default-stake']],
  ['grants without a requestRef', ['grant-incomplete', 'grant-not-an-object']],
  [
    'fails at a body that is not JSON',
    ['grant-broken', 'grant-not-an-object', 'status-incomplete', 'cancel-incomplete', 'revoke-broken'],
  ],
  ['never completes', ['status-after-last-spin']],
  [
    'makes up a status',
    [
      'grant-other-terms-change-nothing',
      'status-unknown-batch',
      'status-another-player',
      'status-another-game',
      'status-similar-reference',
      'status-incomplete',
    ],
  ],
  [
    'answers a cancel with 204',
    [
      'every-route-nonce',
      'cancel-answered',
      'cancel-repeated',
      'cancel-at-once',
      'cancel-unknown-fields',
      'cancel-after-spins',
      'cancel-after-last-spin',
      'cancel-answer-lost',
      'latency',
      'first-cancel-repeated',
    ],
  ],
  ['cancels once', ['cancel-repeated', 'cancel-at-once', 'cancel-answer-lost', 'first-cancel-repeated']],
  [
    'cancels nothing',
    [
      'cancel-voids-spins',
      'cancel-at-once',
      'cancel-then-grant',
      'cancel-and-grant-at-once',
      'cancel-after-spins',
      'cancel-ends-play',
      'cancel-answer-lost',
      'first-cancel-repeated',
    ],
  ],
  ['cancels all of a player', ['cancel-leaves-others', 'first-grant-repeated']],
  ['plays on after a cancel', ['cancel-ends-play']],
  [
    'revokes once',
    ['revoke-repeated', 'revoke-after-revoke', 'revoke-repeated-at-once', 'first-revocation-repeated'],
  ],
  ['knows only kicks', ['revoke-every-reason', 'revoke-after-revoke']],
  ['claims a nonce before it verifies', ['forged-call-leaves-nonce']],
  [
    'ignores the player of a batch',
    [
      'grant-other-terms-change-nothing',
      'status-another-player',
      'status-incomplete',
      'cancel-another-player',
      'cancel-incomplete',
    ],
  ],
  [
    'ignores the game of a batch',
    [
      'grant-other-terms-change-nothing',
      'status-another-game',
      'status-incomplete',
      'cancel-another-game',
      'cancel-incomplete',
    ],
  ],
  ['answers with text/html', ['answer-content-type']],
  ['needs an X-Request-Id', ['request-id-absent']],
])('a provider that %s fails exactly %j', async (fault, failed) => {
  expect(await certified([fault])).toMatchObject({ status: 1, failed, blocked: [] });
});

// They wait in each call, so that a run of every case would take long.
test.each<[Fault, string[]]>([
  ['looks up a nonce before it writes it down', ['nonce-replayed-at-once']],
  ['looks up a grant before it writes it down', ['grant-repeated-at-once', 'grant-other-terms-at-once']],
  ['works on one call at a time, slowly', ['calls-in-parallel']],
])('a slow provider that %s fails %j', async (fault, failed) => {
  expect(await certified([fault], ...only(...failed))).toMatchObject({ status: 1, failed, blocked: [] });
});

test.each<[string, Fault[], string[]]>([
  ['a correct provider passes', [], []],
  ['a provider that forgets it fails', ['remembers a nonce for a moment'], ['first-nonce-replayed']],
])('ten minutes after the first call, the nonce of a new call is repeated: %s', async (_, faults, failed) => {
  const options = ['--patience-seconds', '1', ...only('grant-reference', 'first-nonce-replayed')];
  const [args, secret] = await argumentsFor(['ignores the time', ...faults], options);
  const result = await certify(args, secret, onTestFinished, longRun());
  expect(result.failed).toEqual(failed);
  expect(result.printed).toContain(`${2 - failed.length} passed, ${failed.length} failed`);
});

test('a provider that reads only the first chunk fails with empty and slow bodies, even on a machine that stalls', async () => {
  expect(
    await certified(['reads what comes at once'], '--slow-ms', '500', '--timeout-ms', '2000'),
  ).toMatchObject({
    status: 1,
    failed: ['grant-not-an-object', 'status-incomplete', 'cancel-incomplete', 'slow-body', 'calls-at-once'],
    blocked: [],
  });
});

test('a provider that handles one call at a time fails when others wait for a slow body', async () => {
  expect(await certified(['handles one call at a time'], '--timeout-ms', '1000')).toMatchObject({
    failed: ['calls-at-once'],
    blocked: [],
  });
});

test('a provider that forgets the fifth call of a connection fails if calls share a connection', async () => {
  const { failed } = await certified(
    ['forgets the fifth call of a connection'],
    '--timeout-ms',
    '1000',
    ...only('signed-call', 'calls-in-a-row'),
  );
  expect(failed).toEqual(['calls-in-a-row']);
});

test.each<[Fault, string]>([
  [
    'verifies the path without its prefix',
    'Your server verifies the path /v1/game/free-spins/grant, but /rgs/v1/game',
  ],
  ['decodes the secret as base64', 'Your server verifies with the secret decoded as base64'],
  [
    'verifies what a body parser left',
    'Your server verifies the body "": a body parser consumed the raw bytes',
  ],
])('the report on a provider that %s says what to check', async (fault, hint) => {
  const { tenantId, secret, url } = await started(fault);
  const args = ['certify', '--webhook-base-url', `${url}/rgs`, '--tenant', tenantId, '--only', 'signed-call'];
  const { status, printed } = await command(args, { secret });
  expect(printed).toContain(`    check     ${hint}`);
  expect(status).toBe(1);
});

test('a provider that grants a hundred spins at most blocks the case that needs more', async () => {
  const { status, failed, blocked } = await certified(['grants a hundred spins at most']);
  expect({ status, failed, blocked }).toEqual({ status: 1, failed: [], blocked: ['grant-many-spins'] });
});

test.each<Fault>([
  'answers a grant with 201',
  'answers a number for externalRef',
  'answers an externalRef with a line break',
])('a provider that %s fails at grants, and cases that begin with a grant are blocked', async (fault) => {
  const { status, failed, blocked } = await certified([fault]);
  expect(status).toBe(1);
  expect(failed).toContain('grant-reference');
  expect(failed.filter((id) => /^(status|cancel)-/.test(id))).toEqual([]);
  expect(blocked).toEqual(
    expect.arrayContaining([
      'grant-repeated',
      'status-after-grant',
      'cancel-answered',
      'cancel-another-player',
    ]),
  );
  expect([...failed, ...blocked].filter((id) => id.startsWith('revoke'))).toEqual([]);
});

test('a provider that never answers is given up soon', async () => {
  const { status, failed, blocked, printed } = await certified(['never answers'], '--timeout-ms', '20');
  expect([status, failed.length]).toEqual([1, 3]);
  expect(blocked.length).toBeGreaterThan(50);
  expect(printed).toContain('not within 20 ms');
});

test('cases that need a played spin are reported as skipped if none can be played', async () => {
  const { tenantId, secret, url } = await started();
  const args = ['certify', '--webhook-base-url', url, '--tenant', tenantId, '--slow-ms', '10'];
  const { status, printed } = await command(args, { secret });
  expect(status).toBe(0);
  expect(printed).toContain('0 failed, 0 blocked by a failure, 9 skipped');
  expect(printed).toContain('certified except for the skipped cases');
});

test('one case can be run alone, and its report says what was expected and received', async () => {
  const junit = join(await reportFolder(), 'junit.xml');
  const { status, printed } = await certified(
    ['revokes once'],
    '--only',
    'revoke-repeated',
    '--junit',
    junit,
  );
  expect(status).toBe(1);
  expect(printed).toContain('expected  status 200 the second time too\n    received  status 409');
  expect(await readFile(junit, 'utf8')).toMatch(
    /<testsuites .*tests="1" failures="1"[^]*<failure type="failed" message="expected status 200 the second time too, received status 409"\/>/,
  );
});

test.each([
  [[], '--webhook-base-url is missing'],
  [['--webhook-base-url', 'ftp://x', '--tenant', 'x'], '--webhook-base-url must be http(s)'],
  [['--webhook-base-url', 'http://x'], '--tenant is missing'],
  [['--only', 'nothing'], 'There is no case "nothing"'],
  [['--slow-ms', 'x', '--tenant', 'x', '--webhook-base-url', 'http://x'], '--slow-ms must be a whole number'],
  [
    ['--patience-seconds', '2147484', '--tenant', 'x', '--webhook-base-url', 'http://x'],
    '--patience-seconds must be a whole number from 0 to 2147483,',
  ],
  [
    ['--bet-amount-minor', '9007199254740991', '--tenant', 'x', '--webhook-base-url', 'http://x'],
    '--bet-amount-minor must be a whole number from 0 to 1000000000000,',
  ],
  [['--unknown'], "Unknown option '--unknown'"],
])('%j cannot be carried out', async (args, sentence) => {
  const tenant = args.length === 0 ? ['--tenant', 'x'] : [];
  const { status, complained } = await command(['certify', ...args, ...tenant], { secret: 'x' });
  expect(complained).toContain(sentence);
  expect(status).toBe(2);
});

test('the secret has no option', async () => {
  const { status, complained } = await command([
    'certify',
    '--webhook-base-url',
    'http://x',
    '--tenant',
    'x',
  ]);
  expect([status, complained.split('\n')[0]]).toEqual([
    2,
    'Set CROUPIER_SECRET to the secret, exactly as it was shown at creation.',
  ]);
});

test('the cases are at least thirty, each with an id of its own', async () => {
  const { printed } = await command(['certify', '--list']);
  const ids = printed.split('\n').map((line) => line.split(/ +/)[1]);
  expect(ids.length).toBeGreaterThanOrEqual(30);
  expect(new Set(ids).size).toBe(ids.length);
});
