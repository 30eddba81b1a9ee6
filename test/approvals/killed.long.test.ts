import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../process/built-service.js';
import { launch, type Launched, ownPort } from '../process/launch.js';
import { GRANT } from '../world/provider.js';
import { Transactions } from '../world/transactions.js';
import { ADMIN_KEY, GAME, OPERATOR, PROVIDER, useWorld } from '../world/world.js';

/** How often the process is killed, each time at another moment. */
const ROUNDS = 6;
/** The process is killed within this time after the approvals were sent, in milliseconds: longer than they take. */
const WITHIN_MS = 150;
const PORT = ownPort();
const URL = `http://127.0.0.1:${PORT}`;

let service: Launched | undefined;
let approver: string;

// The world has the counterparts and the database; the built service is another instance on it, to be killed.
const world = useWorld({ CALLBACK_TIMEOUT_MS: '1000' });
beforeAll(async () => {
  await world.admin('PUT', `/v1/admin/limits/${OPERATOR}/EUR`, {
    maxGrantMinor: 0,
    maxBatchMinor: 0,
    maxAdjustmentMinor: 0,
  });
  const { key } = (await world.admin('POST', '/v1/admin/keys', { name: 'Approver', role: 'admin' })).json;
  approver = String(key);
});
afterAll(() => void service?.process.kill('SIGKILL'));

/** A key that is not the approver's: neither the requester nor a key that the requester created may approve. */
async function askerKey(): Promise<string> {
  const { key } = (await world.admin('POST', '/v1/admin/keys', { name: 'Asker', role: 'admin' })).json;
  return String(key);
}

function call(base: string, key: string, path: string, body?: object): Promise<Response> {
  const headers = { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) };
  return fetch(base + path, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) });
}

async function start(): Promise<void> {
  const started = launch({
    ADMIN_API_KEY: ADMIN_KEY,
    SECRETS_KEY: Buffer.alloc(32, 'test').toString('base64'),
    DATABASE_URL: world.databaseUrl,
    HOST: '127.0.0.1',
    PORT: String(PORT),
    OUTBOUND_ALLOW_PRIVATE: 'true',
    OPERATOR_TIMEOUT_MS: '1000',
    CALLBACK_TIMEOUT_MS: '1000',
    TRANSACTION_LEASE_SECONDS: '2',
  });
  service = started;
  await until(async () => {
    if (started.process.exitCode !== null) throw new Error(started.lines.join('\n'));
    return (await fetch(`${URL}/health/ready`).catch(() => undefined))?.status === 200;
  });
}

const pathOf = ({ transactionId }: { transactionId: string }) =>
  `/v1/admin/transactions/${PROVIDER}/${transactionId}`;

/** A parked WIN whose outcome is unknown. */
async function parkedWin(transactionId: string) {
  const session = await world.launch();
  const win = await new Transactions(world).timedOut(world.transaction(session, 'WIN', { transactionId }));
  await world.sql.run('UPDATE transactions SET parked_at = clock_timestamp() WHERE transaction_id = $1', [
    transactionId,
  ]);
  return win;
}

const SPINS = { operatorId: OPERATOR, gameId: GAME, spins: 5, betAmountMinor: 20, currency: 'EUR' };

test('whenever the process is killed, an approved action is recorded once and sent at most once, and none is lost', async () => {
  const key = await askerKey();
  for (let round = 0; round < ROUNDS; round += 1) {
    await start();
    const ref = randomUUID();
    const players = ['a', 'b', 'c'].map((name) => `${name}-${ref}`);
    const adjustment = { adjustmentId: `adjustment-${ref}`, playerRef: `rich-${ref}`, amountMinor: 250 };
    const actions: [string, object][] = [
      ['/v1/admin/free-spins', { ...SPINS, playerRef: `single-${ref}`, requestRef: `grant-${ref}` }],
      ['/v1/admin/free-spins/batches', { ...SPINS, playerRefs: players, batchRef: `batch-${ref}` }],
      ['/v1/admin/adjustments', { ...adjustment, operatorId: OPERATOR, currency: 'EUR', reason: 'ticket 1' }],
    ];
    const parked = await parkedWin(`win-${ref}`);
    const answer = {
      status: 'APPROVED',
      balance: 7,
      operatorReference: `ticket ${ref}`,
      reason: 'no wallet',
    };
    actions.push([`${pathOf(parked)}/settle`, answer]);
    const approvals: string[] = [];
    for (const [path, body] of actions) {
      const response = await call(URL, key, path, body);
      expect(response.status).toBe(202);
      approvals.push(((await response.json()) as { approvalId: string }).approvalId);
    }

    const lost = approvals.map((id) =>
      call(URL, approver, `/v1/admin/approvals/${id}/approve`).catch(() => undefined),
    );
    const delayMs = (WITHIN_MS * round) / ROUNDS + Math.random() * 15;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    service?.process.kill('SIGKILL');
    await Promise.all(lost);

    // The surviving instance continues committed actions on its own, and the others when they are approved again.
    for (const id of approvals) {
      await until(
        async () => (await call(world.url, approver, `/v1/admin/approvals/${id}/approve`)).status === 200,
      );
    }
    await world.sql.run(
      `UPDATE free_spin_grants SET lease_until = clock_timestamp() WHERE lease_until IS NOT NULL`,
    );
    const context = `killed after ${delayMs.toFixed(1)} ms in round ${round}`;
    const rows = async () =>
      world.sql.run<{ player_ref: string; state: string; outcome_unknown: boolean; attempt: number }>(
        'SELECT player_ref, state, outcome_unknown, attempt FROM free_spin_grants WHERE player_ref LIKE $1 ORDER BY 1',
        [`%-${ref}`],
      );
    await world.admin('GET', '/v1/admin/free-spins?limit=1');
    await until(async () => (await rows()).every(({ state }) => state !== 'PENDING'));
    const granted = await rows();
    expect([context, granted.map(({ player_ref }) => player_ref)]).toEqual([
      context,
      [...players, `single-${ref}`],
    ]);
    for (const { player_ref, state, outcome_unknown, attempt } of granted) {
      const sent = world.provider.calls(GRANT).filter(({ json }) => json['playerRef'] === player_ref).length;
      expect([context, player_ref, sent <= 1, attempt]).toEqual([context, player_ref, true, 1]);
      // Grants that were under way at the end have an unknown outcome; all others were granted.
      expect([context, player_ref, state === 'GRANTED' ? sent === 1 : outcome_unknown]).toEqual([
        context,
        player_ref,
        true,
      ]);
    }
    const adjust = { ...adjustment, operatorId: OPERATOR, currency: 'EUR', reason: 'ticket 1' };
    await until(async () => (await call(world.url, key, '/v1/admin/adjustments', adjust)).status === 200);
    expect([context, world.wallet.booked(adjustment.adjustmentId)?.movements]).toEqual([context, 1]);
    expect(world.wallet.balanceOf(adjustment.playerRef)).toBe(100_250);
    const { attempts, ...win } = (await world.admin('GET', pathOf(parked))).json as { attempts: object[] };
    expect([context, win]).toMatchObject([context, { state: 'APPROVED', settledByHand: true }]);
    expect([context, attempts.length]).toEqual([context, 2]);
    expect([context, world.wallet.calls(parked.transactionId).length]).toEqual([context, 1]);
  }
}, 300_000);
