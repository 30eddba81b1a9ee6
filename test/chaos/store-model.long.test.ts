import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedDatabase } from '../../chaos/simulation/database.js';
import { sha256 } from '../../src/runtime/digest.js';
import { platformRollback } from '../../src/wallet/resolving/platform-rollback.js';
import { UndecidedStore } from '../../src/wallet/resolving/undecided.store.js';
import { decide } from '../../src/wallet/rules/attempt.js';
import type { TransactionRequest } from '../../src/wallet/rules/facts.js';
import { FreshClaims } from '../../src/wallet/fresh-claim.store.js';
import type { Claim, NewTransaction, Settlement, Submission } from '../../src/wallet/transaction.js';
import { type LoadedFacts, TransactionStore } from '../../src/wallet/transaction.store.js';
import { OPERATOR, PROVIDER, useWorld } from '../world/world.js';

/**
 * Verifies the simulation's model of the database: model and PostgreSQL get the same operations in the same order and
 * must give the same answers.
 */
const world = useWorld();

const STATES = ['APPROVED', 'DECLINED', 'TIMED_OUT'] as const;

const operation = fc.record({
  do: fc.constantFrom('load', 'claim', 'fresh', 'settle', 'settle', 'end-lease', 'end', 'park'),
  /** The index of an existing request, loaded decision or claim. */
  which: fc.nat({ max: 1000 }),
  state: fc.constantFrom(...STATES),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

test('the model of the store answers as PostgreSQL does', async () => {
  const met = { claims: 0, settled: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 40 }), async (operations) => {
      const both = await Both.create(met);
      for (const one of operations) await both.carryOut(one);
      await both.compareAll();
    }),
    { numRuns: 180 },
  );
  for (const count of Object.values(met)) expect(count).toBeGreaterThan(0);
}, 120_000);

/** The store and its model, each with the same session and round. */
class Both {
  private now = 1_000_000;
  private readonly loaded: { submission: Submission; facts: LoadedFacts }[] = [];
  private readonly claims: Claim[] = [];
  private readonly store = world.app.get(TransactionStore);
  private readonly fresh = world.app.get(FreshClaims);
  private readonly undecided = world.app.get(UndecidedStore);

  private constructor(
    private readonly model: SimulatedDatabase,
    private readonly submissions: readonly Submission[],
    private readonly met: { claims: number; settled: number; refused: number },
  ) {}

  static async create(met: Both['met']): Promise<Both> {
    const session = await world.launch();
    const { playerRef, gameId, currency, sessionToken } = session;
    const round = { playerRef, gameId, currency, roundId: `round-${session.sessionId}` };
    const id = (name: string) => `${name}-${session.sessionId}`;
    const undo = (name: string, target: string): TransactionRequest => ({
      ...round,
      kind: 'ROLLBACK',
      transactionId: id(name),
      originalTransactionId: id(target),
    });
    const requests: TransactionRequest[] = [
      { ...round, kind: 'BET', transactionId: id('bet-1'), amountMinor: 10 },
      { ...round, kind: 'BET', transactionId: id('bet-2'), amountMinor: 20 },
      { ...round, kind: 'WIN', transactionId: id('win'), amountMinor: 30 },
      undo('undo-1a', 'bet-1'),
      undo('undo-1b', 'bet-1'),
      undo('undo-2', 'bet-2'),
      undo('undo-win', 'win'),
    ];
    const submissions = requests.map((request, index) => ({
      provider: { id: PROVIDER, lateSettlementSeconds: 0 },
      request,
      tokenHash: sha256(sessionToken),
      platformTransactionId: `00000000-0000-4000-8000-${String(index).padStart(4, '0')}${session.sessionId.slice(-8)}`,
    }));
    const facts = await world.app.get(TransactionStore).load(submissions[0]!);
    const clock = () => both.now;
    const both: Both = new Both(
      new SimulatedDatabase(clock, facts.session!, 30_000, undefined),
      submissions,
      met,
    );
    return both;
  }

  async carryOut(operation: Operation): Promise<void> {
    this.now += 1;
    const submission = this.submissions[operation.which % this.submissions.length]!;
    const { transactionId } = submission.request;
    switch (operation.do) {
      case 'load':
        this.loaded.push({ submission, facts: await this.load(submission) });
        return;
      case 'claim': {
        const decided = this.loaded[operation.which % Math.max(1, this.loaded.length)];
        return decided && this.claim(decided.submission, decided.facts);
      }
      case 'fresh':
        return this.agree(await this.fresh.tryClaim(submission, OPERATOR), this.model.tryClaim(submission));
      case 'settle': {
        const claim = this.claims[operation.which % Math.max(1, this.claims.length)];
        return claim && this.settle(claim, operation.state);
      }
      case 'end-lease': {
        await world.sql.run(
          `UPDATE transactions SET lease_until = clock_timestamp() - interval '1 second'
            WHERE transaction_id = $1 AND state = 'PENDING'`,
          [transactionId],
        );
        const row = this.model.rows.get(transactionId);
        if (row?.state === 'PENDING') row.leaseUntil = this.now - 1;
        return;
      }
      case 'end':
        return this.end(transactionId);
      case 'park': {
        const key = { providerId: PROVIDER, transactionId };
        expect(await this.undecided.park(key)).toBe(this.model.park(key));
        return;
      }
    }
  }

  async compareAll(): Promise<void> {
    for (const submission of this.submissions) await this.load(submission);
  }

  private async load(submission: Submission): Promise<LoadedFacts> {
    const facts = await this.store.load(submission);
    const modelled = this.model.load(submission);
    expect(comparable(modelled)).toEqual(comparable(facts));
    return facts;
  }

  private async claim(submission: Submission, { session, round, ...facts }: LoadedFacts): Promise<void> {
    const { provider, request, platformTransactionId } = submission;
    const decision = decide(request, { ...facts, session, round });
    const { operatorId, sessionId, mode } = session!;
    const amountMinor = request.amountMinor ?? 0;
    const identity = { providerId: provider.id, platformTransactionId, operatorId, sessionId, mode };
    const transaction: NewTransaction = { ...identity, request, amountMinor };
    switch (decision.do) {
      case 'retry': {
        const { transactionId } = request;
        const claim = await this.store.retry(provider.id, transactionId, decision.attempt);
        return this.agree(claim, this.model.retry(transactionId, decision.attempt));
      }
      case 'conclude': {
        const concluded = { ...transaction, verdict: decision.verdict };
        return this.agree(await this.store.claim(concluded), this.model.claim(concluded));
      }
      case 'book': {
        if (request.kind === 'WIN') {
          const claim = await this.store.claimWin(transaction, round);
          return this.agree(claim, this.model.claimWin(transaction, round));
        }
        return this.agree(await this.store.claim(transaction), this.model.claim(transaction));
      }
      case 'reverse': {
        const reversed = { ...transaction, amountMinor: decision.amountMinor };
        const tombstone = platformTransactionId.replace('-8000-', '-9000-');
        const claim = await this.store.claimRollback(reversed, round, decision.target, tombstone);
        return this.agree(claim, this.model.claimRollback(reversed, round, decision.target, tombstone));
      }
      default:
    }
  }

  /** Claims the platform's own ROLLBACK of an undecided BET. */
  private async end(transactionId: string): Promise<void> {
    const key = { providerId: PROVIDER, transactionId };
    const found = await this.undecided.find(key);
    const modelled = this.model.find(key);
    const omitted = { platformTransactionId: undefined, reported: undefined };
    expect(plain(modelled)).toEqual(plain(found && { ...found, ...omitted }));
    if (found?.kind !== 'BET') return;
    const { operatorId, sessionId, mode, amountMinor, playerRef, gameId, roundId, currency } = found;
    const bet = { ...key, playerRef, gameId: gameId!, roundId: roundId!, currency };
    const request = platformRollback(bet, found.declinedEndings);
    const platformTransactionId = `00000000-0000-4000-8000-${sha256(request.transactionId).toString('hex').slice(0, 12)}`;
    const transaction = {
      providerId: PROVIDER,
      operatorId,
      sessionId,
      mode,
      amountMinor,
      platformTransactionId,
      request,
    };
    const version = { version: found.roundVersion };
    const target = { found: 'bet', attempt: found.attempt, approved: false } as const;
    this.agree(
      await this.store.claimRollback(transaction, version, target, platformTransactionId),
      this.model.claimRollback(transaction, version, target, platformTransactionId),
    );
  }

  private async settle(claim: Claim, state: Settlement['state']): Promise<void> {
    const body = state === 'TIMED_OUT' ? null : `{"of":${claim.attempt}}`;
    const settlement: Settlement = {
      state,
      responseBody: body,
      declineReason: null,
      record: {
        attempt: claim.attempt,
        startedAt: new Date(this.now).toISOString(),
        durationMs: 0,
        outcome: 'APPROVED',
      },
    };
    const settled = (await this.store.settle(claim, settlement)) !== undefined;
    expect(this.model.settle(claim, settlement)).toBe(settled);
    this.met.settled += settled ? 1 : 0;
    this.met.refused += settled ? 0 : 1;
  }

  private agree(claim: Claim | undefined, modelled: Claim | undefined): void {
    // The time of sending comes from the clock, so it differs.
    const compared = { standsOnBet: undefined, sentMs: undefined };
    expect(modelled && { ...modelled, ...compared }).toEqual(claim && { ...claim, ...compared });
    if (!claim) {
      this.met.refused += 1;
      return;
    }
    this.met.claims += 1;
    this.claims.push(claim);
  }
}

/** The facts that the rules read, without the platform's id of the target and what only the desk shows. */
function comparable({ session, round, stored, target }: LoadedFacts): unknown {
  return plain({
    session,
    round,
    stored: stored && { ...stored, reported: undefined },
    target: target && { ...target, reported: undefined, platformTransactionId: undefined },
  });
}

/** A copy without undefined fields. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}
