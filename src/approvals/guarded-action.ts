import type { RecordEntry } from '../audit/audit.service.js';
import type { Role } from '../admin/role.js';
import type { Query, Transaction } from '../database/database.js';
import { type AllLimits, DEFAULT_OPERATOR, differences, NO_LIMITS } from '../limits/rules/in-effect.js';
import type { Stake } from '../limits/rules/judgement.js';
import { money, transactionMoney } from '../money/money.js';

export interface GrantTerms {
  readonly requestRef: string;
  readonly operatorId: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly spins: number;
  readonly betAmountMinor: number;
  readonly currency: string;
  /** When the remaining spins are cancelled, ISO 8601 in UTC; absent if they do not expire. */
  readonly expiresAt?: string;
}

/** The terms of a batch: the same grant for each player. */
export interface BatchTerms extends Omit<GrantTerms, 'requestRef' | 'playerRef'> {
  readonly batchId: string;
  readonly batchRef: string | null;
  readonly playerRefs: readonly string[];
}

export interface AdjustmentTerms {
  readonly adjustmentId: string;
  readonly operatorId: string;
  readonly playerRef: string;
  readonly currency: string;
  /** Minor units; negative debits the player. */
  readonly amountMinor: number;
  readonly reason: string;
}

/** The terms of settling a parked transaction by hand, with the outcome that the operator reported. */
export interface SettlementTerms {
  readonly providerId: string;
  readonly transactionId: string;
  /** The latest attempt at the time of the request: what the operator reported says nothing about a later one. */
  readonly attempt: number;
  readonly kind: string;
  readonly operatorId: string;
  readonly playerRef: string;
  readonly currency: string;
  /** The transaction's amount in minor units; signed for an adjustment. */
  readonly amountMinor: number;
  readonly status: 'APPROVED' | 'DECLINED';
  /** Minor units, as the operator reported it; null if it reported none. */
  readonly balance: number | null;
  readonly operatorReference: string;
  readonly reason: string;
}

/** The terms of a change of limits. Absent fields are not limited. */
export interface LimitTerms {
  /** `*` for the installation's default. */
  readonly operatorId: string;
  readonly currency: string;
  /** The limits in effect, with the installation's default for each field that the operator has not set. */
  readonly before: Partial<AllLimits>;
  readonly after: Partial<AllLimits>;
  /** The operator's own limits, without the default. */
  readonly ownBefore: Partial<AllLimits>;
  readonly ownAfter: Partial<AllLimits>;
}

export interface TermsOf {
  readonly grant: GrantTerms;
  readonly batch: BatchTerms;
  readonly adjustment: AdjustmentTerms;
  readonly settlement: SettlementTerms;
  readonly limit: LimitTerms;
}

export type GuardedActionKind = keyof TermsOf;

/** The kind of an action with its terms. */
export type ActionTerms = {
  readonly [Kind in GuardedActionKind]: { readonly kind: Kind; readonly terms: TermsOf[Kind] };
}[GuardedActionKind];

/** An action whose terms, including its ids, are fixed, so that what is approved is what was requested. */
export type GuardedAction = ActionTerms & {
  /**
   * Identifies the action within its kind. While the action waits for approval, a request with the same reference must
   * be for the same action.
   */
  readonly reference: string;
  /** SHA-256 over the terms that must be equal in a repeated request. */
  readonly fingerprint: Buffer;
  /** The amount to compare with the limits; undefined if the action always needs approval. */
  readonly stake: Stake | undefined;
};

/** Carries out the actions of one kind. Contract, section 9, "Limits and approvals". */
export interface Executor<Kind extends GuardedActionKind> {
  /** The role that may do the action, and therefore approve it. */
  readonly role: Role;
  /** Whether an action with this reference was recorded. */
  isRecorded(query: Query, terms: TermsOf[Kind]): Promise<boolean>;
  /**
   * Records the action in the transaction that approves it, so that the remaining work is done even if the process dies
   * after the commit.
   * @param askedBy the actor who requested the action
   * @returns a function that does the remaining work after the commit. It must not throw a CroupierError. If it fails
   *   or never runs, the action's own module completes the recorded action later.
   * @throws CroupierError if the action is no longer possible; then nothing is committed
   */
  record(
    transaction: Transaction,
    record: RecordEntry,
    terms: TermsOf[Kind],
    askedBy: string,
  ): Promise<() => Promise<void>>;
  /**
   * What the action's route would have answered if no approval had been needed, built from the record of the action;
   * `{error}` if the action failed.
   */
  result(terms: TermsOf[Kind]): Promise<object>;
}

/** Describes the action in one sentence, with amounts such as `2.50 EUR`. */
export function summaryOf({ kind, terms }: ActionTerms): string {
  switch (kind) {
    case 'adjustment': {
      const { amountMinor, currency, playerRef, reason } = terms;
      return `adjustment of ${money(amountMinor, currency)} for ${playerRef}: ${reason}`;
    }
    case 'settlement': {
      const { kind: settled, transactionId, amountMinor, currency, playerRef } = terms;
      const { status, operatorReference, reason } = terms;
      const what = `${settled} ${transactionId} of ${transactionMoney(settled, amountMinor, currency)} for ${playerRef}`;
      return `settling ${what} by hand as ${status}, operator's reference ${operatorReference}: ${reason}`;
    }
    case 'limit': {
      const { operatorId, currency, before, after } = terms;
      const whose = operatorId === DEFAULT_OPERATOR ? 'default limits' : `limits of ${operatorId}`;
      const amount = (minor: number | null) => (minor === null ? 'no limit' : money(minor, currency));
      const changes = differences({ ...NO_LIMITS, ...before }, { ...NO_LIMITS, ...after });
      const fields = changes.map(([name, from, to]) => `${name} from ${amount(from)} to ${amount(to)}`);
      return `${whose} in ${currency}: ${fields.join(', ')}`;
    }
    case 'grant': {
      return `${spinsOf(terms)} for ${terms.playerRef} in ${terms.gameId}${untilOf(terms)}${sumOf(terms, 1)}`;
    }
    case 'batch': {
      const players = terms.playerRefs.length;
      return `${spinsOf(terms)} for each of ${players} ${players === 1 ? 'player' : 'players'} in ${terms.gameId}${untilOf(terms)}${sumOf(terms, players)}`;
    }
  }
}

type SpinTerms = Pick<GrantTerms, 'spins' | 'betAmountMinor' | 'currency'>;

/** Describes spins with the stake of each spin, such as `5 spins of 0.20 EUR`. */
export function spinsOf({ spins, betAmountMinor, currency }: SpinTerms): string {
  const stake = betAmountMinor === 0 ? "the provider's default stake" : money(betAmountMinor, currency);
  return `${spins} ${spins === 1 ? 'spin' : 'spins'} of ${stake}`;
}

function untilOf({ expiresAt }: Pick<GrantTerms, 'expiresAt'>): string {
  return expiresAt === undefined ? '' : ` until ${expiresAt}`;
}

function sumOf({ spins, betAmountMinor, currency }: SpinTerms, players: number): string {
  if (betAmountMinor === 0) return ', of unknown value';
  return `: ${money(spins * betAmountMinor * players, currency)}`;
}
