import { Injectable } from '@nestjs/common';
import type { MovementRequest, UnknownOutcome } from '../../operator-wallet/operator-wallet.js';
import { Randomness } from '../../runtime/randomness.js';
import { AttemptRunner } from '../attempt.runner.js';
import { platformRollback, platformRollbackId } from './platform-rollback.js';
import { decideResolution } from '../rules/resolution.js';
import type { Claim, Driver, TransactionKey } from '../transaction.js';
import { TransactionStore } from '../transaction.store.js';
import { type UndecidedTransaction, UndecidedStore } from './undecided.store.js';

/** The outcome of one try to resolve a transaction. */
export type ResolveOutcome =
  /** It is decided now; `ended`: a BET whose ROLLBACK was APPROVED. */
  | { readonly to: 'approved' | 'declined' | 'ended' }
  /** The operator DECLINED the platform's own ROLLBACK of the BET: only a person may continue. */
  | { readonly to: 'ending-declined' }
  /**
   * Still undecided. `operatorFailed`: the operator (not the DEMO wallet) gave no valid answer, except a refusal of this
   * transaction alone, or no call to it could be reserved.
   */
  | { readonly to: 'unknown'; readonly operatorFailed: boolean }
  /** Another attempt is in progress, or was faster. */
  | { readonly to: 'in-flight' }
  | { readonly to: 'decided-before' }
  /** Only an administrator may continue; nothing was done. */
  | { readonly to: 'for-a-person' }
  | { readonly to: 'not-found' };

/**
 * Resolves one transaction that its provider does not retry. Contract, section 3, "Undecided transactions without a
 * retry".
 *
 * Invariant: at most one call per transaction is in flight, whether the provider, the resolver or an administrator
 * causes it, because each of them claims the transaction first. A crash after the claim leaves the transaction PENDING;
 * once its lease has expired, it is resolved again.
 */
@Injectable()
export class ResolutionService {
  constructor(
    private readonly undecided: UndecidedStore,
    private readonly transactions: TransactionStore,
    private readonly attempts: AttemptRunner,
    private readonly randomness: Randomness,
  ) {}

  async resolve(key: TransactionKey, driver: Exclude<Driver, 'provider'>): Promise<ResolveOutcome> {
    const stored = await this.undecided.find(key);
    if (!stored) return { to: 'not-found' };
    const decision = decideResolution(stored, driver === 'administrator');
    switch (decision.do) {
      case 'leave':
        return { to: decision.because === 'decided' ? 'decided-before' : 'in-flight' };
      case 'park':
        return { to: 'for-a-person' };
      case 'follow': {
        const { rollbackId } = decision;
        // A ROLLBACK is never reversed itself, so this recursion is one step deep.
        const outcome = outcomeForBet(await this.resolve({ ...key, transactionId: rollbackId }, driver));
        // After the provider's ROLLBACK was DECLINED, the platform can still end the BET with a ROLLBACK of its own.
        const own = rollbackId === platformRollbackId(key, stored.declinedEndings);
        return outcome.to === 'ending-declined' && !own ? { to: 'unknown', operatorFailed: false } : outcome;
      }
      case 'resend': {
        const { providerId, transactionId } = key;
        const claim = () => this.transactions.retry(providerId, transactionId, stored.attempt);
        if (stored.kind === null) throw new Error(`the tombstone ${transactionId} is undecided`);
        return this.execute(stored, stored.kind, claim, driver);
      }
      case 'end': {
        const claim = () => this.claimEnding(stored, decision.ordinal);
        return outcomeForBet(await this.execute(stored, 'ROLLBACK', claim, driver));
      }
    }
  }

  /** Claims the platform's own ROLLBACK and marks the BET, by the same statements as for a provider's ROLLBACK. */
  private async claimEnding(bet: UndecidedTransaction, ordinal: number): Promise<Claim | undefined> {
    const { providerId, operatorId, sessionId, mode, amountMinor, gameId, roundId, attempt } = bet;
    if (gameId === null || roundId === null) throw new Error(`the BET ${bet.transactionId} is in no round`);
    const transaction = {
      providerId,
      operatorId,
      sessionId,
      mode,
      amountMinor,
      platformTransactionId: this.randomness.uuid(),
      request: platformRollback({ ...bet, gameId, roundId }, ordinal),
    };
    const round = { version: bet.roundVersion };
    // If the BET is APPROVED by now, its provider may have the approval: the claim fails.
    const target = { found: 'bet', attempt, approved: false } as const;
    return this.transactions.claimRollback(transaction, round, target, this.randomness.uuid());
  }

  private async execute(
    { operatorId, mode }: UndecidedTransaction,
    kind: MovementRequest['kind'],
    claim: () => Promise<Claim | undefined>,
    driver: Exclude<Driver, 'provider'>,
  ): Promise<ResolveOutcome> {
    const claimed = await this.attempts.claim({ operatorId, mode }, kind, claim);
    if (claimed.to === 'lost') return { to: 'in-flight' };
    if (claimed.to === 'refused') return { to: 'unknown', operatorFailed: true };
    const outcome = await this.attempts.execute(claimed, driver);
    switch (outcome.to) {
      case 'lost':
        return { to: 'in-flight' };
      case 'unknown':
        return { to: 'unknown', operatorFailed: mode === 'REAL' && !refusesOne(outcome.unknown) };
      case 'decided':
        return { to: outcome.state === 'APPROVED' ? 'approved' : 'declined' };
    }
  }
}

/** The 4xx with which an operator refuses any call, or asks to wait. */
const REFUSING_ANY: readonly number[] = [401, 403, 408, 425, 429];

/** Whether the operator has answered, and its 4xx may concern only this transaction. */
function refusesOne({ noHttpAnswer, received }: UnknownOutcome): boolean {
  if (noHttpAnswer || !received) return false;
  const { status } = received;
  return status >= 400 && status < 500 && !REFUSING_ANY.includes(status);
}

/** The outcome for a BET, derived from the outcome of its ROLLBACK. */
function outcomeForBet(rollback: ResolveOutcome): ResolveOutcome {
  if (rollback.to === 'approved') return { to: 'ended' };
  if (rollback.to === 'declined') return { to: 'ending-declined' };
  return rollback.to === 'decided-before' ? { to: 'in-flight' } : rollback;
}
