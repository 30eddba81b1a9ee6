import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../src/runtime/digest.js';
import { FreshClaims } from '../../src/wallet/fresh-claim.store.js';
import { decide } from '../../src/wallet/rules/attempt.js';
import { WIN_KINDS } from '../../src/wallet/rules/win-kind.js';
import type { TransactionRequest } from '../../src/wallet/rules/facts.js';
import type { Submission } from '../../src/wallet/transaction.js';
import { TransactionStore } from '../../src/wallet/transaction.store.js';
import { FOREIGN_GAME, GAME, OPERATOR, OTHER_OPERATOR, OTHER_PROVIDER, PROVIDER } from '../world/world.js';
import { useWorld } from '../world/world.js';

const RETIRED_GAME = 'retired-game';
const PAUSED_OPERATOR = 'paused-casino';
const PAUSED_PROVIDER = 'paused-provider';
/** The changes to the situation for each paused party. */
const PAUSED = {
  nothing: {},
  operator: { operator: PAUSED_OPERATOR },
  provider: { provider: PAUSED_PROVIDER, gameId: 'game-of-paused-provider' },
  game: { gameId: 'paused-game' },
} as const;

const world = useWorld();
beforeAll(async () => {
  const game = { providerId: PROVIDER, name: RETIRED_GAME, status: 'DISABLED' };
  expect((await world.admin('PUT', `/v1/admin/games/${RETIRED_GAME}`, game)).status).toBe(200);
  const disabled = await world.admin('PATCH', `/v1/admin/operators/${OTHER_OPERATOR}`, {
    status: 'DISABLED',
  });
  expect(disabled.status).toBe(200);
  const { baseUrl } = world.wallet;
  await create('operators', { id: PAUSED_OPERATOR, name: 'Paused', walletBaseUrl: baseUrl });
  await create('providers', { id: PAUSED_PROVIDER, name: 'Paused', webhookBaseUrl: baseUrl });
  await createGame(PAUSED.provider.gameId, PAUSED_PROVIDER);
  await createGame(PAUSED.game.gameId, PROVIDER);
  for (const path of [
    `operators/${PAUSED_OPERATOR}`,
    `providers/${PAUSED_PROVIDER}`,
    `games/${PAUSED.game.gameId}`,
  ]) {
    expect((await world.admin('POST', `/v1/admin/${path}/pause`, { reason: 'test' })).status).toBe(200);
  }
});

async function create(kind: 'operators' | 'providers', tenant: object): Promise<void> {
  expect((await world.admin('POST', `/v1/admin/${kind}`, tenant)).status).toBe(201);
}

async function createGame(gameId: string, providerId: string): Promise<void> {
  const game = { providerId, name: gameId };
  expect((await world.admin('PUT', `/v1/admin/games/${gameId}`, game)).status).toBe(200);
}

/** Draws the first value most of the time. */
const usually = <T>(usual: T, ...others: T[]) =>
  fc.oneof(
    { arbitrary: fc.constant(usual), weight: 6 },
    { arbitrary: fc.constantFrom(...others), weight: 1 },
  );

const STORED = {
  PENDING: "'PENDING', clock_timestamp() + interval '1 minute', NULL, NULL",
  ABANDONED: "'PENDING', clock_timestamp() - interval '1 minute', NULL, NULL",
  TIMED_OUT: "'TIMED_OUT', NULL, NULL, NULL",
  APPROVED: "'APPROVED', NULL, NULL, '{}'",
  DECLINED: "'DECLINED', NULL, NULL, '{}'",
  BEING_REVERSED: "'APPROVED', NULL, 'rollback', '{}'",
  ROLLED_BACK: "'ROLLED_BACK', NULL, 'rollback', '{}'",
} as const;
type StoredState = keyof typeof STORED;
const STATES = Object.keys(STORED) as StoredState[];

/** In what a round differs from that of the request. */
const OTHER_ROUNDS = ['mode', 'provider', 'operator', 'player', 'game', 'roundId'] as const;
type RoundOf = 'the round' | (typeof OTHER_ROUNDS)[number];

const MODES = ['REAL', 'DEMO'] as const;

/** A session, a request, and what is stored under its id, in its round and in rounds that differ in one part. */
const drawn = fc.record({
  kind: fc.constantFrom('BET' as const, 'WIN' as const),
  mode: fc.constantFrom(...MODES),
  sessionExists: usually(true, false),
  sessionOf: usually('the provider', 'another provider'),
  operator: usually(OPERATOR, OTHER_OPERATOR),
  gameId: usually(GAME, RETIRED_GAME, FOREIGN_GAME),
  paused: usually('nothing' as const, 'operator' as const, 'provider' as const, 'game' as const),
  ended: usually('no', 'expired', 'revoked'),
  lateSettlementSeconds: fc.constantFrom(0, 3_600),
  agrees: usually('fully', 'not on the player', 'not on the game', 'not on the currency'),
  freeSpins: usually(false, true),
  maxBetMinor: fc.constantFrom(null, null, 99, 100, 101),
  winKind: usually(undefined, ...WIN_KINDS),
  stored: usually(undefined, 'TOMBSTONE' as const, ...STATES),
  round: fc.array(
    fc.record({
      kind: fc.constantFrom('BET' as const, 'WIN' as const),
      state: fc.constantFrom(...STATES),
      ofSession: fc.boolean(),
      in: usually('the round' as const, ...OTHER_ROUNDS),
    }),
    { maxLength: 3 },
  ),
});
const situation = drawn.map((given) => ({ provider: PROVIDER, ...given, ...PAUSED[given.paused] }));
type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;

const DISAGREEMENTS: Readonly<Record<string, object>> = {
  'not on the player': { playerRef: 'somebody-else' },
  'not on the game': { gameId: 'another-game' },
  'not on the currency': { currency: 'USD' },
};

/** The fields of a request with this winKind, if it may have it: FREE_SPINS goes with a freeSpinsRef, GAME without one. */
function winKindOf({ winKind, freeSpins }: Situation): Partial<TransactionRequest> {
  const fits = winKind !== undefined && winKind !== (freeSpins ? 'GAME' : 'FREE_SPINS');
  return fits ? { winKind, promotionRef: 'race-3' } : {};
}

/**
 * Puts the situation into the database.
 * @returns the request as the service would submit it
 */
async function arrange(given: Situation): Promise<Submission> {
  const token = randomUUID();
  const sessionId = randomUUID();
  const player = { playerRef: `player-${sessionId}`, gameId: given.gameId, currency: 'EUR' };
  const request = {
    ...player,
    ...DISAGREEMENTS[given.agrees],
    transactionId: `${given.kind}-${sessionId}`,
    kind: given.kind,
    roundId: `round-${sessionId}`,
    amountMinor: 100,
    ...(given.freeSpins && { freeSpinsRef: 'batch' }),
    ...(given.kind === 'WIN' && winKindOf(given)),
  };
  if (given.sessionExists) {
    await world.sql.run(
      `INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
                             max_bet_minor, created_at, expires_at, revoked_at, revoke_reason)
       SELECT $1, $2, $3, $4, $5, $6, 'EUR', $9, $8, now() - interval '2 minutes',
              now() + CASE WHEN $7 = 'expired' THEN interval '-1 minute' ELSE interval '1 hour' END,
              CASE WHEN $7 = 'revoked' THEN now() - interval '1 minute' END, CASE WHEN $7 = 'revoked' THEN 'KICK' END`,
      [
        sessionId,
        sha256(token),
        given.operator,
        given.sessionOf === 'the provider' ? given.provider : OTHER_PROVIDER,
        player.playerRef,
        given.gameId,
        given.ended,
        given.maxBetMinor,
        given.mode,
      ],
    );
  }
  const store = async (
    id: string,
    kind: 'BET' | 'WIN' | null,
    state: StoredState,
    session: string,
    differsIn: RoundOf = 'the round',
  ) => {
    // Only a BET is rolled back.
    const values = kind === 'WIN' && state.endsWith('ED_BACK') ? STORED.APPROVED : STORED[state];
    await world.sql.run(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, operator_id, session_id,
                                 mode, player_ref, game_id, currency, amount_minor, round_id, attempt, state,
                                 lease_until, rollback_id, response_body)
       VALUES ($8, $1, gen_random_uuid(), $2, $3, $4, $9, $5, $6, 'EUR', 100, $7, 1, ${values})`,
      [
        id,
        kind,
        differsIn === 'operator' ? 'another-operator' : given.operator,
        session,
        differsIn === 'player' ? 'another-player' : request.playerRef,
        differsIn === 'game' ? 'yet-another-game' : request.gameId,
        differsIn === 'roundId' ? `another-${request.roundId}` : request.roundId,
        differsIn === 'provider' ? 'another-provider' : given.provider,
        differsIn === 'mode' ? MODES.find((mode) => mode !== given.mode) : given.mode,
      ],
    );
  };
  if (given.stored === 'TOMBSTONE') await store(request.transactionId, null, 'ROLLED_BACK', sessionId);
  else if (given.stored) await store(request.transactionId, given.kind, given.stored, sessionId);
  for (const [index, stored] of given.round.entries()) {
    const session = stored.ofSession ? sessionId : randomUUID();
    await store(`${request.transactionId}-${index}`, stored.kind, stored.state, session, stored.in);
  }
  return {
    provider: { id: given.provider, lateSettlementSeconds: given.lateSettlementSeconds },
    request,
    tokenHash: sha256(token),
    platformTransactionId: randomUUID(),
  };
}

test('the shortcut claims what the rules would book, and nothing else', async () => {
  const transactions = world.app.get(TransactionStore);
  const freshClaims = world.app.get(FreshClaims);
  const claimed = { 'REAL BET': 0, 'REAL WIN': 0, 'DEMO BET': 0, 'DEMO WIN': 0 };
  let refusedPaused = 0;
  let aboveLimit = 0;
  await fc.assert(
    fc.asyncProperty(situation, async (given) => {
      const submission = await arrange(given);
      const facts = await transactions.load(submission);
      const decision = decide(submission.request, facts);
      const claim = await freshClaims.tryClaim(submission, given.operator);
      // A claim that the rules would not make moves money against the contract.
      if (claim) expect(decision).toEqual({ do: 'book' });
      // The shortcut must not miss a booking either, except a late settlement, which it leaves to the rules.
      else expect(decision.do === 'book' && facts.session?.endedSecondsAgo === null).toBe(false);
      if (claim) {
        const { operatorId, sessionId, mode } = facts.session!;
        expect(claim).toMatchObject({ operatorId, sessionId, mode });
        claimed[`${mode} ${given.kind}`] += 1;
      }
      if (decision.do === 'refuse-paused') refusedPaused += 1;
      if (decision.do === 'conclude' && given.kind === 'BET') aboveLimit += 1;
    }),
    { numRuns: 400 },
  );
  for (const [what, count] of Object.entries(claimed)) {
    expect({ what, claimed: count > 0 }).toEqual({ what, claimed: true });
  }
  expect(refusedPaused).toBeGreaterThan(0);
  expect(aboveLimit).toBeGreaterThan(0);
}, 60_000);
