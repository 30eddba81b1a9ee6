import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { CroupierError } from '../errors/croupier-error.js';
import { addLogFields } from '../observability/trace.js';
import type { OperatorWallet, Unknown } from '../operator-wallet/operator-wallet.js';
import { OperatorWallets } from '../operator-wallet/operator-wallets.service.js';
import { monotonicMs } from '../runtime/clock.js';
import { sha256 } from '../runtime/digest.js';
import { Randomness } from '../runtime/randomness.js';
import { SessionService } from '../session/session.service.js';
import type { Provider } from '../tenancy/tenant.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { AttemptRunner, codeOf, type WinningsTrigger } from './attempt.runner.js';
import { decide } from './rules/attempt.js';
import type { Decision } from './rules/decision.js';
import type { SessionFacts } from './rules/facts.js';
import { responseBody } from './rules/outcome.js';
import type { Claim, NewTransaction, SubmittedTransaction } from './transaction.js';
import { fresh, type Opened, type Stored, TransactionStore } from './transaction.store.js';

/** How often a request looks again when another one moved its round or took its id in between. */
const LOOKS = 50;
/** By how much the longest pause before another look grows with each, in milliseconds. */
const PAUSE_STEP_MS = 4;

/** What a provider is told: the bytes, and whether they were told before. */
export interface Answer {
  readonly body: string;
  readonly replayed: boolean;
}

@Injectable()
export class WalletService {
  private readonly logger = new Logger('Wallet');

  constructor(
    private readonly randomness: Randomness,
    private readonly sessions: SessionService,
    private readonly tenancy: TenancyService,
    private readonly wallets: OperatorWallets,
    private readonly transactions: TransactionStore,
    private readonly attempts: AttemptRunner,
  ) {}

  /**
   * Submits one BET, WIN or ROLLBACK. Contract, section 3.
   *
   * Invariant: the operator is only asked under a claim that is committed and ours, and the provider is only
   * told what is stored. A crash before the claim leaves nothing; after it, a PENDING whose lease runs out.
   * @throws CroupierError as the contract's tables say
   */
  async submit(provider: Provider, asked: SubmittedTransaction): Promise<Answer> {
    addLogFields({ transactionId: asked.transactionId, kind: asked.kind });
    const tokenHash = sha256(asked.sessionToken);
    for (let look = 0; look < LOOKS; look += 1) {
      const startedMs = monotonicMs();
      const platformTransactionId = this.randomness.uuid();
      const opened = await this.transactions.open(provider.id, asked, {
        tokenHash,
        platformTransactionId,
      });
      const late = provider.lateSettlementSeconds;
      const decision: Decision = opened.claimed ? { do: 'book' } : decide(asked, provider.id, late, opened);
      switch (decision.do) {
        case 'refuse':
          throw new CroupierError(decision.code);
        case 'replay':
          return { body: decision.body, replayed: true };
        case 'decline-rolled-back':
          return this.declineRolledBack(asked, opened);
        default: {
          const claiming = this.claim(provider.id, asked, opened, decision, platformTransactionId);
          // A fresh BET has its claim: what is known at once is not waited for.
          const claim = claiming instanceof Promise ? await claiming : claiming;
          if (claim) return this.carryOut(provider.id, asked, claim, startedMs, opened.round.betStands);
          await sleep(this.randomness.integer(look * PAUSE_STEP_MS));
        }
      }
    }
    throw new CroupierError('TRANSACTION_IN_FLIGHT');
  }

  /**
   * Reads the player's balance from the operator's wallet, in minor units. Contract, section 3.
   * @throws CroupierError SESSION_INVALID · SESSION_OF_ANOTHER_PROVIDER · OPERATOR_NOT_CONFIGURED ·
   *   OPERATOR_TIMED_OUT · OPERATOR_UNAVAILABLE
   */
  async balance(provider: Provider, sessionToken: string): Promise<number> {
    const session = await this.sessions.of(provider, sessionToken);
    if (this.tenancy.operator(session.operatorId)?.status !== 'ACTIVE') {
      throw new CroupierError('OPERATOR_NOT_CONFIGURED');
    }
    return this.readBalance(this.wallets.behind(session), session);
  }

  /** @param watcher see AttemptRunner; it must not throw */
  onWinningsTrigger(watcher: (trigger: WinningsTrigger) => void): void {
    this.attempts.onWinningsTrigger(watcher);
  }

  /** Takes the id, durably, before anybody is called; nothing comes back where another request was faster. */
  private claim(
    providerId: string,
    asked: SubmittedTransaction,
    { session, claimed, round }: Opened,
    decision: Extract<Decision, { do: 'book' | 'conclude' | 'reverse' | 'retry' }>,
    platformTransactionId: string,
  ): Claim | undefined | Promise<Claim | undefined> {
    if (decision.do === 'retry')
      return this.transactions.retry(providerId, asked.transactionId, decision.attempt);
    if (!session) return undefined;
    const { operatorId, sessionId, mode } = session;
    const amountMinor = decision.do === 'reverse' ? decision.amountMinor : (asked.amountMinor ?? 0);
    const transaction: NewTransaction = {
      ...{ providerId, platformTransactionId, operatorId, sessionId, mode, asked, amountMinor },
      ...(decision.do === 'conclude' && { verdict: decision.verdict }),
    };
    if (claimed) return fresh(transaction);
    switch (decision.do) {
      case 'conclude':
        return this.transactions.claim(transaction);
      case 'reverse':
        return this.transactions.claimRollback(transaction, round, decision.target, this.randomness.uuid());
      case 'book':
        // A BET was to be claimed before it was looked at: something has changed since, so it is tried again.
        return asked.kind === 'WIN' ? this.transactions.claimWin(transaction, round) : undefined;
    }
  }

  /** Asks the operator under our claim, stores what it says, and answers what is stored. */
  private async carryOut(
    providerId: string,
    asked: SubmittedTransaction,
    claim: Claim,
    startedMs: number,
    betStands: boolean,
  ): Promise<Answer> {
    const outcome = await this.attempts.carryOut(claim, startedMs, 'provider', betStands);
    if (outcome.to === 'lost') return this.answerOfAnother(providerId, asked, claim);
    if (outcome.to === 'unknown') throw unanswered(outcome.unknown);
    return { body: outcome.responseBody, replayed: false };
  }

  /** Our claim was taken over while the operator was asked: what counts is what is stored, never our result. */
  private async answerOfAnother(
    providerId: string,
    asked: SubmittedTransaction,
    claim: Claim,
  ): Promise<Answer> {
    this.logger.warn({
      msg: 'attempt was taken over',
      transactionId: asked.transactionId,
      attempt: claim.attempt,
    });
    const opened = await this.transactions.open(providerId, asked, {
      tokenHash: sha256(asked.sessionToken),
      platformTransactionId: claim.platformTransactionId,
    });
    const decision = decide(asked, providerId, 0, opened);
    if (decision.do === 'replay') return { body: decision.body, replayed: true };
    if (decision.do === 'decline-rolled-back') return this.declineRolledBack(asked, opened);
    throw new CroupierError('TRANSACTION_IN_FLIGHT');
  }

  /** The id stands for something that was rolled back: nothing moves, and the balance is read now. */
  private async declineRolledBack(
    asked: SubmittedTransaction,
    { session, stored }: { session: SessionFacts | null; stored: Stored | null },
  ): Promise<Answer> {
    if (!session || !stored) throw new CroupierError('INTERNAL');
    const { transactionId, currency } = asked;
    const balance = await this.readBalance(this.wallets.behind(session), asked);
    const { platformTransactionId } = stored;
    const body = responseBody({
      ...{ transactionId, platformTransactionId, status: 'DECLINED', balance, currency },
      declineReason: 'TRANSACTION_ROLLED_BACK',
    });
    return { body, replayed: false };
  }

  private async readBalance(
    wallet: OperatorWallet,
    player: { playerRef: string; currency: string },
  ): Promise<number> {
    const answer = await wallet.balance(player);
    if (answer.kind === 'unknown') throw unanswered(answer);
    return answer.balance;
  }
}

function unanswered(unknown: Unknown): CroupierError {
  return new CroupierError(codeOf(unknown));
}
