import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Resolver } from '../../src/wallet/resolving/resolver.js';
import { platformRollbackId } from '../../src/wallet/resolving/platform-rollback.js';
import { type LaunchedSession, PROVIDER, type Reply, useWorld, type World } from '../world/world.js';

const world = useWorld();

type Body = ReturnType<World['transaction']> & { readonly originalTransactionId?: string };

/** The fate of the operator's answer in one attempt. */
const FATES = ['answered', 'lost-before', 'lost-after', 'declined', 'dies'] as const;
type Fate = (typeof FATES)[number];

type Request = 'bet-1' | 'bet-2' | 'win' | 'undo-1a' | 'undo-1b' | 'undo-2' | 'undo-win';

/**
 * One move in a round of one or two BETs, one WIN and some ROLLBACKs: a request of the provider, or the resolver,
 * a minute later.
 */
interface Move {
  readonly which: Request | 'resolver';
  /** For the resolver: the fate of the operator's answer to a ROLLBACK of the platform's own. */
  readonly fate: Fate;
  /** Whether the move is not awaited before the next one begins. */
  readonly overlapping: boolean;
}

const move: fc.Arbitrary<Move> = fc.record({
  which: fc.constantFrom('bet-1', 'bet-2', 'win', 'undo-1a', 'undo-1b', 'undo-2', 'undo-win', 'resolver'),
  fate: fc.constantFrom(...FATES),
  overlapping: fc.boolean(),
});

/**
 * The invariant of the whole service: in whatever order requests arrive, concurrently, lost or repeated, the operator
 * moves money at most once for an id, and the last answer to the provider agrees with the operator's ledger.
 */
test('after any interleaving of attempts, time-outs, retries and rollbacks both sides agree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 14 }), async (moves) => {
      const session = await world.launch();
      const round = new Round(session);
      await round.play(moves);
      await round.settleAll();
      round.verify();
    }),
    { numRuns: 60 },
  );
}, 120_000);

class Round {
  private readonly bodies: Record<Request, Body>;
  private readonly touched = new Set<Request>();
  private readonly answers = new Map<Request, Reply>();

  constructor(private readonly session: LaunchedSession) {
    const roundId = `round-${session.sessionId}`;
    const body = (kind: string, fields = {}) => world.transaction(session, kind, { roundId, ...fields });
    const bet1 = body('BET', { amountMinor: 1000 });
    const bet2 = body('BET', { amountMinor: 200 });
    const win = body('WIN', { amountMinor: 30 });
    const undo = (target: Body) => body('ROLLBACK', { originalTransactionId: target.transactionId });
    this.bodies = {
      'bet-1': bet1,
      'bet-2': bet2,
      win,
      'undo-1a': undo(bet1),
      'undo-1b': undo(bet1),
      'undo-2': undo(bet2),
      'undo-win': undo(win),
    };
  }

  async play(moves: readonly Move[]): Promise<void> {
    const running: Promise<void>[] = [];
    for (const each of moves) {
      const { which, fate } = each;
      const attempt = which === 'resolver' ? this.resolve(fate) : this.attempt(which, fate);
      running.push(attempt);
      if (!each.overlapping) await attempt;
    }
    await Promise.all(running);
  }

  /** Lets a minute pass, except for leases, and runs the resolver. */
  private async resolve(fate: Fate): Promise<void> {
    await world.sql.run(
      `UPDATE transactions SET created_at = created_at - interval '61 seconds',
              updated_at = updated_at - interval '61 seconds'
        WHERE round_id = $1 AND state IN ('PENDING', 'TIMED_OUT')`,
      [this.bodies.win.roundId],
    );
    const scripted = (['bet-1', 'bet-2'] as const).map((which) => {
      const { transactionId } = this.bodies[which];
      const match = { transactionId: platformRollbackId({ providerId: PROVIDER, transactionId }, 0) };
      const lost = { do: 'answer', status: 503 } as const;
      if (fate === 'answered' || fate === 'dies') return undefined;
      if (fate === 'declined') return world.wallet.next({ do: 'decline', reason: 'OTHER' }, match);
      return world.wallet.next(fate === 'lost-before' ? lost : { do: 'book-then', then: lost }, match);
    });
    await world.app.get(Resolver).tick();
    for (const each of scripted) each?.withdraw();
  }

  private async attempt(which: Request, fate: Fate): Promise<void> {
    const body = this.bodies[which];
    this.touched.add(which);
    const match = { transactionId: body.transactionId };
    const lost = { do: 'answer', status: 503 } as const;
    const scripted =
      fate === 'lost-before'
        ? world.wallet.next(lost, match)
        : fate === 'lost-after'
          ? world.wallet.next({ do: 'book-then', then: lost }, match)
          : fate === 'declined'
            ? world.wallet.next({ do: 'decline', reason: 'OTHER' }, match)
            : fate === 'dies'
              ? world.wallet.next({ do: 'hold', booking: 'on-arrival' }, match)
              : undefined;
    const answer = world.submit(body);
    if (fate === 'dies' && scripted) {
      // Its lease expires during the call to the operator; it resumes only after another attempt may have taken over.
      const arrived = await Promise.race([scripted.arrived.then(() => true), answer.then(() => false)]);
      if (arrived) {
        await world.endLease(body.transactionId);
        this.hear(which, await world.submit(body));
      }
      scripted.release();
    }
    this.hear(which, await answer);
    scripted?.withdraw();
  }

  private hear(which: Request, reply: Reply): void {
    expect([200, 409, 500]).toContain(reply.status);
    if (reply.status === 200) this.answers.set(which, reply);
  }

  /**
   * A provider repeats its requests until all are decided and stay so; the resolver decides those that wait for a
   * ROLLBACK of the platform's own.
   */
  async settleAll(): Promise<void> {
    for (let pass = 0; pass < 10; pass += 1) {
      let restless = 0;
      await this.resolve('answered');
      for (const which of this.touched) {
        const before = this.answers.get(which)?.json['status'];
        const reply = await world.submit(this.bodies[which]);
        this.hear(which, reply);
        if (reply.status !== 200 || reply.json['status'] !== before) restless += 1;
      }
      if (restless === 0) return;
    }
    throw new Error('the round never becomes stable');
  }

  verify(): void {
    let expected = 100_000;
    for (const which of this.touched) {
      const body = this.bodies[which];
      expect(world.wallet.booked(body.transactionId)?.movements ?? 0).toBeLessThanOrEqual(1);
      const answered = this.answers.get(which)?.json['status'];
      if (body.kind === 'ROLLBACK') {
        const targetStands = standsAtWallet(body.originalTransactionId!);
        if (answered === 'APPROVED') expect({ which, targetStands }).toEqual({ which, targetStands: false });
        continue;
      }
      const stands = standsAtWallet(body.transactionId);
      expect({ which, answered }).toEqual({ which, answered: stands ? 'APPROVED' : 'DECLINED' });
      if (stands) expected += body.kind === 'BET' ? -Number(body.amountMinor) : Number(body.amountMinor);
    }
    expect(world.wallet.balanceOf(this.session.playerRef)).toBe(expected);
    const { transactionId } = this.bodies['bet-1'];
    const ending = platformRollbackId({ providerId: PROVIDER, transactionId }, 0);
    const reversing = [this.bodies['undo-1a'], this.bodies['undo-1b'], { transactionId: ending }].filter(
      (each) => world.wallet.booked(each.transactionId)?.status === 'APPROVED',
    );
    expect(reversing.length).toBeLessThanOrEqual(1);
  }
}

function standsAtWallet(transactionId: string): boolean {
  const held = world.wallet.booked(transactionId);
  return held?.status === 'APPROVED' && !held.reversed;
}
