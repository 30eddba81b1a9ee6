import { platformRollback } from '../../src/wallet/resolving/platform-rollback.js';
import { decide } from '../../src/wallet/rules/attempt.js';
import type { Decision } from '../../src/wallet/rules/decision.js';
import type { SessionFacts } from '../../src/wallet/rules/facts.js';
import { isPlatformId } from '../../src/wallet/rules/platform-id.js';
import type { Answer, Intent } from '../load/history.js';
import { type Row, roundFacts, roundKey, storedFacts, undecided } from '../model/rows.js';
import type { Fixed, Move } from './moves.js';

/** Longest duration of a commit, in milliseconds. Until it ends, other connections read the earlier state. */
const COMMIT_MS = 15_000;

/** Longest time from a move until its commit is visible to others, without faults, in milliseconds. */
const VISIBLE_MS = 2000;
/**
 * How long an instance may continue a request whose connection is lost, because it may have been suspended, in
 * milliseconds.
 */
const ABANDONED_MS = 30_000;

type Rows = ReadonlyMap<string, Row>;

/** The state of the round between two commits. */
interface Moment {
  readonly from: number;
  readonly rows: Rows;
}

/** Moves of one database transaction. */
interface Step {
  readonly moves: readonly Move[];
  readonly at: number;
}

export interface RoundJudgement {
  readonly violations: readonly string[];
  readonly rows: Rows;
  /** The values of each transaction that its first claim fixed. */
  readonly fixed: ReadonlyMap<string, Fixed>;
}

/**
 * Replays a round. Each claim must follow from the pure rules for a state that the claiming request can have read. The
 * table of states must allow each other move, and each 200 or 409 must agree with what was stored at the time.
 */
export function judgeRound(moves: readonly Move[], intents: ReadonlyMap<string, Intent>): RoundJudgement {
  return new RoundReplay(intents).replay(moves);
}

class RoundReplay {
  private readonly violations: string[] = [];
  private readonly moments: Moment[] = [{ from: 0, rows: new Map() }];
  private readonly fixed = new Map<string, Fixed>();
  private readonly bodies = new Map<string, { readonly at: number; readonly body: string }>();
  private readonly rolledBackAt = new Map<string, number>();
  /** Index of the earliest moment whose state a claim that locks the round can have read. */
  private lockedSince = 0;

  /** @param intents the intents of the round, by transactionId */
  constructor(private readonly intents: ReadonlyMap<string, Intent>) {}

  replay(moves: readonly Move[]): RoundJudgement {
    for (const step of stepsOf(moves)) this.take(step);
    for (const intent of this.intents.values()) {
      for (const answer of intent.answers) this.judgeAnswer(intent, answer);
    }
    return { violations: this.violations, rows: this.now, fixed: this.fixed };
  }

  private get now(): Rows {
    return this.moments.at(-1)!.rows;
  }

  private complain(transactionId: string, text: string): void {
    this.violations.push(`${transactionId}: ${text}`);
  }

  private take(step: Step): void {
    const before = this.now;
    const rows = new Map(before);
    let locks = false;
    for (const move of step.moves) {
      const row = rows.get(move.transactionId);
      if (move.fixed) {
        if (row) this.complain(move.transactionId, 'inserted twice');
        this.fixed.set(move.transactionId, move.fixed);
        locks = this.judgeClaim(move, move.fixed, step) || locks;
        rows.set(move.transactionId, rowOf(move, move.fixed));
      } else if (!row) {
        this.complain(move.transactionId, 'moved before it was claimed');
      } else {
        this.judgeMove(row, move, step);
        rows.set(move.transactionId, { ...row, ...changeable(move) });
      }
      this.remember(move);
    }
    this.moments.push({ from: step.at, rows });
    if (locks) this.lockedSince = this.moments.length - 1;
  }

  private remember({ transactionId, responseBody, state, at }: Move): void {
    if (responseBody !== null && !this.bodies.has(transactionId)) {
      this.bodies.set(transactionId, { at, body: responseBody });
    }
    if (state === 'ROLLED_BACK' && !this.rolledBackAt.has(transactionId))
      this.rolledBackAt.set(transactionId, at);
  }

  /** @returns whether the claim took the round's lock */
  private judgeClaim(move: Move, fixed: Fixed, step: Step): boolean {
    const { transactionId } = move;
    if (fixed.kind === null) {
      const rollback = step.moves.find((other) => other.transactionId === move.rollbackId && other.fixed);
      if (!rollback) this.complain(transactionId, 'a tombstone without its ROLLBACK');
      return false;
    }
    if (move.state !== 'PENDING' || move.attempt !== 1 || move.leaseUntil === null) {
      this.complain(transactionId, `claimed as ${move.state}, attempt ${move.attempt}`);
    }
    const locks = fixed.verdict === null && fixed.kind !== 'BET';
    const readable = this.readable(move, locks ? this.lockedSince : 0);
    const decided = isPlatformId(transactionId)
      ? readable.map(({ rows }) => this.ending(rows, fixed, move))
      : readable.map(({ rows }) => this.decide(rows, fixed, move));
    if (!decided.some((decision) => decision !== undefined && isClaimOf(decision, fixed))) {
      const last = JSON.stringify(decided.at(-1)) ?? 'nothing is known of it';
      const claimed = fixed.verdict === null ? '' : ` with the verdict ${fixed.verdict}`;
      this.complain(transactionId, `claimed${claimed}, but the rules decide ${last}`);
    }
    return locks;
  }

  /**
   * The moments whose state the decision for a claim can have read: none that ended more than `VISIBLE_MS` before the
   * first request was sent.
   * @param first index of the earliest possible moment
   */
  private readable({ transactionId, at }: Move, first: number): Moment[] {
    const requests = (this.intents.get(transactionId)?.answers ?? []).filter(
      ({ sent, answered, status }) => sent <= at && answered + (status === 0 ? ABANDONED_MS : 1) >= at,
    );
    const since =
      requests.length > 0 ? Math.min(...requests.map(({ sent }) => sent)) - VISIBLE_MS : -Infinity;
    return this.moments.filter((_, index) => {
      const until = this.moments[index + 1]?.from ?? Infinity;
      return index >= first && until >= since;
    });
  }

  /**
   * A ROLLBACK of the platform's own is allowed only for an undecided BET without an attempt or a ROLLBACK under way.
   */
  private ending(rows: Rows, fixed: Fixed, move: Move): Decision | undefined {
    const bet = rows.get(fixed.originalTransactionId ?? '');
    const facts = bet && storedFacts(bet, rows.values(), move.at);
    if (!bet || !facts || bet.kind !== 'BET' || !undecided(bet)) return undefined;
    if (facts.leaseAlive || facts.rollbackUndecided || bet.gameId === null || bet.roundId === null)
      return undefined;
    const { providerId, transactionId, playerRef, gameId, currency, roundId } = bet;
    const identity = { providerId, transactionId, playerRef, gameId, currency, roundId };
    const ordinals = [0, 1, 2, 3];
    const own = ordinals.some((n) => platformRollback(identity, n).transactionId === move.transactionId);
    return own
      ? {
          do: 'reverse',
          target: { found: 'bet', attempt: bet.attempt, approved: false },
          amountMinor: bet.amountMinor,
        }
      : undefined;
  }

  private decide(rows: Rows, { sessionId }: Fixed, move: Move): Decision | undefined {
    const intent = this.intents.get(move.transactionId);
    if (intent?.session.sessionId !== sessionId) return undefined;
    return this.decideIntent(rows, intent, move.at);
  }

  private decideIntent(rows: Rows, { session, request }: Intent, now: number): Decision {
    const facts: SessionFacts = { ...session, currency: request.currency, mode: 'REAL', ...ACTIVE_SESSION };
    const { providerId, sessionId } = session;
    const read = (transactionId: string | undefined) => {
      const row = rows.get(transactionId ?? '');
      return row ? storedFacts(row, rows.values(), now) : null;
    };
    return decide(request, {
      provider: { id: providerId, lateSettlementSeconds: 0 },
      session: facts,
      stored: read(request.transactionId),
      target: request.kind === 'ROLLBACK' ? read(request.originalTransactionId) : null,
      round: roundFacts(roundKey(providerId, facts, request), sessionId, rows.values(), 0),
      pause: null,
    });
  }

  /** Checks a move against the allowed transitions of states and their conditions. */
  private judgeMove(row: Row, move: Move, { moves }: Step): void {
    const { transactionId } = move;
    const together = (id: string | null) => moves.find((other) => other.transactionId === id);
    const leaseOver = row.leaseUntil !== null && row.leaseUntil <= move.at;
    const open = row.state === 'TIMED_OUT' || (row.state === 'PENDING' && leaseOver);
    if (move.attempt === row.attempt + 1) {
      if (!open || row.rollbackId !== null || move.state !== 'PENDING') {
        this.complain(transactionId, `attempt ${move.attempt} was claimed from ${row.state}`);
      }
    } else if (move.attempt !== row.attempt) {
      this.complain(transactionId, `from attempt ${row.attempt} to ${move.attempt}`);
    } else if (row.rollbackId === null && move.rollbackId !== null) {
      // The provider may have the approval of the BET: only the provider itself may reverse it now.
      const stands = row.state === 'APPROVED' && !isPlatformId(move.rollbackId);
      const takes = row.kind === null || (row.kind === 'BET' && (stands || open));
      if (!takes || !together(move.rollbackId)?.fixed) {
        this.complain(transactionId, `marked by ${move.rollbackId} in ${row.state}`);
      }
    } else if (row.rollbackId !== null) {
      const rollback = together(row.rollbackId);
      const reversed = move.state === 'ROLLED_BACK' && rollback?.state === 'APPROVED';
      const released = move.rollbackId === null && move.state === row.state && rollback?.state === 'DECLINED';
      if (!reversed && !released) {
        this.complain(
          transactionId,
          `from ${row.state} to ${move.state} while ${row.rollbackId} reverses it`,
        );
      }
    } else if (row.state !== 'PENDING' || !['APPROVED', 'DECLINED', 'TIMED_OUT'].includes(move.state)) {
      this.complain(transactionId, `from ${row.state} to ${move.state}`);
    } else if ((move.state === 'TIMED_OUT') !== (move.responseBody === null)) {
      this.complain(transactionId, `${move.state} with the body ${move.responseBody}`);
    }
  }

  private judgeAnswer(intent: Intent, answer: Answer): void {
    const { transactionId } = intent.request;
    if (answer.status === 200) return this.judgeDefinite(transactionId, answer);
    if (answer.code !== 'TRANSACTION_IN_FLIGHT') return;
    if (!this.couldBeInFlight(intent, answer))
      this.complain(transactionId, 'was answered 409, although nothing was in flight');
  }

  private judgeDefinite(transactionId: string, { body = '', answered, sent, replayed }: Answer): void {
    const stored = this.bodies.get(transactionId);
    const rolledBack = this.rolledBackAt.get(transactionId) ?? Infinity;
    if (stored?.body === body) {
      if (stored.at > answered + 1) this.complain(transactionId, 'was answered before it was stored');
      if (rolledBack < sent - COMMIT_MS)
        this.complain(transactionId, `was answered as booked after its ROLLBACK`);
      return;
    }
    const { status, declineReason } = JSON.parse(body) as { status: string; declineReason?: string };
    const declined = status === 'DECLINED' && declineReason === 'TRANSACTION_ROLLED_BACK' && !replayed;
    if (!declined || rolledBack > answered + 1) {
      this.complain(transactionId, `was answered ${body}, stored is ${stored?.body ?? 'nothing'}`);
    }
  }

  /** Whether the rules refuse with a 409 in one of the states that the request can have read. */
  private couldBeInFlight(intent: Intent, { sent, answered }: Answer): boolean {
    return this.moments.some(({ from, rows }, index) => {
      const until = this.moments[index + 1]?.from ?? Infinity;
      if (from > answered + 1 || until < sent - COMMIT_MS) return false;
      return [Math.max(from, sent - COMMIT_MS), sent, answered].some((now) => {
        const decision = this.decideIntent(rows, intent, now);
        return decision.do === 'refuse' && decision.code === 'TRANSACTION_IN_FLIGHT';
      });
    });
  }
}

/** All sessions of a run are live and without a highest stake, and all tenants and games active. */
const ACTIVE_SESSION = {
  maxBetMinor: null,
  endedSecondsAgo: null,
  gameActive: true,
  operatorActive: true,
} as const;

/** Groups the moves by database transaction, ordered by their last moves. */
function stepsOf(moves: readonly Move[]): Step[] {
  const byTransaction = new Map<string, Move[]>();
  for (const move of moves) {
    const known = byTransaction.get(move.xid);
    if (known) known.push(move);
    else byTransaction.set(move.xid, [move]);
  }
  return [...byTransaction.values()]
    .map((ofOne) => ({ moves: ofOne, at: ofOne.at(-1)!.at }))
    .sort((one, other) => Number(BigInt(one.moves.at(-1)!.seq) - BigInt(other.moves.at(-1)!.seq)));
}

function isClaimOf(decision: Decision, { kind, verdict, declineReason, amountMinor }: Fixed): boolean {
  switch (decision.do) {
    case 'book':
      return verdict === null && kind !== 'ROLLBACK';
    case 'reverse':
      return verdict === null && kind === 'ROLLBACK' && decision.amountMinor === amountMinor;
    case 'conclude': {
      const reason = decision.verdict.status === 'DECLINED' ? decision.verdict.declineReason : null;
      return decision.verdict.status === verdict && reason === declineReason;
    }
    default:
      return false;
  }
}

function changeable({ state, attempt, leaseUntil, rollbackId, responseBody }: Move) {
  return { state, attempt, leaseUntil, rollbackId, responseBody };
}

function rowOf(move: Move, fixed: Fixed): Row {
  const { providerId, transactionId, playerRef, roundId } = move;
  return { providerId, transactionId, playerRef, roundId, ...fixed, ...changeable(move) };
}
