import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { CroupierError } from '../errors/croupier-error.js';
import { addLogFields } from '../observability/trace.js';
import type { CallKind, UnknownOutcome } from '../operator-wallet/operator-wallet.js';
import { OperatorWallets, type WalletOwner } from '../operator-wallet/operator-wallets.service.js';
import { sha256 } from '../runtime/digest.js';
import { failureText } from '../runtime/failure-text.js';
import { Randomness } from '../runtime/randomness.js';
import { SessionOwners } from '../session/session-owners.js';
import { SessionService } from '../session/session.service.js';
import type { Provider } from '../tenancy/tenant.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { Admission, type RequestUnderWay } from './admission.js';
import { AttemptRunner, type ClaimedAttempt, refusedCall } from './attempt.runner.js';
import { FreshClaims } from './fresh-claim.store.js';
import { decide } from './rules/attempt.js';
import type { Decision } from './rules/decision.js';
import type { ProviderFacts, RoundFacts, SessionFacts, TransactionRequest } from './rules/facts.js';
import { responseBody } from './rules/outcome.js';
import { codeOf } from './settlement.js';
import type { Claim, NewTransaction, Submission } from './transaction.js';
import { type LoadedFacts, type StoredTransaction, TransactionStore } from './transaction.store.js';

/** Maximum number of tries to claim a transaction while concurrent requests change its round or take its id. */
const CLAIM_TRIES = 50;
/** The pause before the next try is random. Its upper bound grows by this step with each try, in milliseconds. */
const PAUSE_STEP_MS = 4;

/** The response body, and whether it is a replay. */
interface TransactionAnswer {
  readonly body: string;
  readonly replayed: boolean;
}

/** The decisions that need a claim. */
type ClaimingDecision = Extract<Decision, { do: 'book' | 'conclude' | 'reverse' | 'retry' }>;

@Injectable()
export class WalletService {
  private readonly logger = new Logger('Wallet');

  constructor(
    private readonly randomness: Randomness,
    private readonly sessions: SessionService,
    private readonly owners: SessionOwners,
    private readonly tenancy: TenancyService,
    private readonly wallets: OperatorWallets,
    private readonly freshClaims: FreshClaims,
    private readonly transactions: TransactionStore,
    private readonly attempts: AttemptRunner,
    private readonly admission: Admission,
  ) {}

  /**
   * Submits one BET, WIN or ROLLBACK. Contract, section 3.
   *
   * Invariant: a transaction is sent to the operator only under our committed claim, and the provider receives only an
   * outcome that is stored. A crash before the claim leaves nothing. A crash between claim and settlement leaves the
   * transaction PENDING; once its lease has expired, another attempt takes it over.
   * @throws CroupierError with a code from the tables of sections 2 and 3
   */
  async submit(
    provider: Provider,
    { sessionToken, ...request }: TransactionRequest & { readonly sessionToken: string },
  ): Promise<TransactionAnswer> {
    const { transactionId, kind, roundId } = request;
    addLogFields({ transactionId, kind, roundId });
    const submission: Submission = {
      provider,
      request,
      tokenHash: sha256(sessionToken),
      platformTransactionId: this.randomness.uuid(),
    };
    const admitted = await this.admission.enter(request.kind === 'BET' ? 'beginning' : 'settling');
    try {
      // A shortcut: deleting these two lines changes latency only.
      const claim = await this.claimFresh(submission);
      if (claim) return await this.execute(submission, claim, admitted);
      return await this.decideAndExecute(submission, admitted);
    } finally {
      admitted.leave();
    }
  }

  /**
   * Reads the player's current balance, in minor units. Contract, section 3.
   * @throws CroupierError SESSION_INVALID · SESSION_OF_ANOTHER_PROVIDER · OPERATOR_NOT_CONFIGURED ·
   *   OVERLOADED · OPERATOR_TIMED_OUT · OPERATOR_UNAVAILABLE
   */
  async balance(provider: Provider, sessionToken: string): Promise<number> {
    const admitted = await this.admission.enter('beginning');
    try {
      const session = await this.sessions.requireLive(provider, sessionToken);
      if (this.tenancy.operator(session.operatorId)?.status !== 'ACTIVE') {
        throw new CroupierError('OPERATOR_NOT_CONFIGURED');
      }
      admitted.endClaiming();
      return await this.readBalance(session, session, 'BALANCE');
    } finally {
      admitted.leave();
    }
  }

  /**
   * Claims a new BET or WIN without loading anything first. The call to the operator is reserved before the claim, so
   * this instance must have the session's operator in memory. While calls to the operator may be refused, the facts are
   * loaded instead: a replay needs no call, and must not use up the one BET per second that an open breaker admits.
   * @returns undefined if the facts must be loaded
   */
  private async claimFresh(submission: Submission): Promise<ClaimedAttempt | undefined> {
    const owner = this.owners.find(submission.tokenHash);
    const { kind } = submission.request;
    if (!owner || !this.wallets.wouldAdmit(owner, kind)) return undefined;
    const claimed = await this.attempts.claim(owner, kind, () =>
      this.freshClaims.tryClaim(submission, owner.operatorId),
    );
    return claimed.to === 'execute' ? claimed : undefined;
  }

  /**
   * Loads the facts, decides by the rules and acts on the decision. Starts over if the claim is lost because another
   * request has changed the facts.
   */
  private async decideAndExecute(
    submission: Submission,
    admitted: RequestUnderWay,
  ): Promise<TransactionAnswer> {
    const { request } = submission;
    for (let attempt = 0; attempt < CLAIM_TRIES; attempt += 1) {
      const facts = await this.transactions.load(submission);
      if (facts.session) this.owners.remember(submission.tokenHash, facts.session);
      const decision = decide(request, facts);
      switch (decision.do) {
        case 'refuse':
          throw new CroupierError(decision.code, decision.message);
        case 'refuse-paused':
          // `pauseOfBets`, beside `pausedError`, says which pauses refuse a BET.
          throw this.tenancy.pausedError(decision.pause);
        case 'replay':
          return this.replay(facts, submission, decision.body);
        case 'decline-rolled-back':
          admitted.endClaiming();
          return this.declineRolledBack(submission, facts);
        default: {
          // The rules never decide to claim without a session.
          const session = facts.session!;
          const claimed = await this.attempts.claim(session, request.kind, () =>
            this.claim(submission, session, facts.round, decision),
          );
          if (claimed.to === 'refused') throw refusedCall();
          if (claimed.to === 'execute') return this.execute(submission, claimed, admitted);
          admitted.endClaiming();
          await sleep(this.randomness.integer(attempt * PAUSE_STEP_MS));
        }
      }
    }
    throw new CroupierError('TRANSACTION_IN_FLIGHT');
  }

  /** Commits the claim that the decision needs; undefined if another request was faster. */
  private async claim(
    { provider, request, platformTransactionId }: Submission,
    { operatorId, sessionId, mode }: SessionFacts,
    round: RoundFacts,
    decision: ClaimingDecision,
  ): Promise<Claim | undefined> {
    if (decision.do === 'retry') {
      return this.transactions.retry(provider.id, request.transactionId, decision.attempt);
    }
    const transaction: NewTransaction = {
      providerId: provider.id,
      platformTransactionId,
      operatorId,
      sessionId,
      mode,
      request,
      amountMinor: request.amountMinor ?? 0,
    };
    switch (decision.do) {
      case 'conclude':
        return this.transactions.claim({ ...transaction, verdict: decision.verdict });
      case 'book':
        return request.kind === 'WIN'
          ? this.transactions.claimWin(transaction, round)
          : this.transactions.claim(transaction);
      case 'reverse': {
        const { target, amountMinor } = decision;
        const tombstoneId = this.randomness.uuid();
        return this.transactions.claimRollback({ ...transaction, amountMinor }, round, target, tombstoneId);
      }
    }
  }

  /**
   * Calls the operator under our claim, settles, and returns the stored answer.
   * @throws CroupierError OPERATOR_TIMED_OUT · OPERATOR_UNAVAILABLE · TRANSACTION_IN_FLIGHT
   */
  private async execute(
    submission: Submission,
    claimed: ClaimedAttempt,
    admitted: RequestUnderWay,
  ): Promise<TransactionAnswer> {
    admitted.endClaiming();
    const { operatorId, sessionId } = claimed.claim;
    addLogFields({ operatorId, ...(sessionId !== null && { sessionId }) });
    const outcome = await this.attempts.execute(claimed, 'provider');
    switch (outcome.to) {
      case 'decided':
        return { body: outcome.responseBody, replayed: false };
      case 'unknown':
        throw unanswered(outcome.unknown);
      case 'lost':
        return this.answerOfSuccessor(submission, claimed.claim);
    }
  }

  /**
   * Answers the request after another attempt or a ROLLBACK has taken the transaction over. The result of our own call
   * no longer counts.
   * @throws CroupierError TRANSACTION_IN_FLIGHT if no outcome is stored yet · OPERATOR_TIMED_OUT · OPERATOR_UNAVAILABLE
   */
  private async answerOfSuccessor(submission: Submission, { attempt }: Claim): Promise<TransactionAnswer> {
    const { request } = submission;
    const { transactionId } = request;
    this.logger.warn({ msg: 'attempt was taken over', transactionId, attempt });
    const facts = await this.transactions.load(submission);
    const decision = decide(request, facts);
    if (decision.do === 'replay') return this.replay(facts, submission, decision.body);
    if (decision.do === 'decline-rolled-back') return this.declineRolledBack(submission, facts);
    throw new CroupierError('TRANSACTION_IN_FLIGHT');
  }

  private async replay(
    { stored }: LoadedFacts,
    { provider }: Submission,
    body: string,
  ): Promise<TransactionAnswer> {
    if (stored?.state === 'APPROVED' || stored?.state === 'DECLINED') {
      await this.recordReported(provider, stored, stored.state);
    }
    return { body, replayed: true };
  }

  /**
   * Records for the support desk that the provider receives this outcome. Writes nothing for a tombstone, or if the
   * provider received the same outcome last, as in an ordinary replay. A failure is only logged, because the answer
   * matters more than the record.
   */
  private async recordReported(
    provider: ProviderFacts,
    { transactionId, kind, reported }: StoredTransaction,
    status: 'APPROVED' | 'DECLINED',
  ): Promise<void> {
    if (kind === null || reported === status) return;
    try {
      await this.transactions.recordReported(provider.id, transactionId, status);
    } catch (error) {
      const detail = failureText(error);
      this.logger.warn({ msg: 'answer to the provider not recorded for the desk', transactionId, detail });
    }
  }

  /** Answers DECLINED for an id that was rolled back. No money moves, and the answer has the current balance. */
  private async declineRolledBack(
    { provider, request }: Submission,
    { session, stored }: LoadedFacts,
  ): Promise<TransactionAnswer> {
    if (!session || !stored) throw new CroupierError('INTERNAL');
    const { transactionId, currency } = request;
    const { platformTransactionId } = stored;
    const balance = await this.readBalance(
      session,
      request,
      request.kind === 'BET' ? 'BALANCE' : request.kind,
    );
    const body = responseBody({
      transactionId,
      platformTransactionId,
      status: 'DECLINED',
      balance,
      currency,
      declineReason: 'TRANSACTION_ROLLED_BACK',
    });
    await this.recordReported(provider, stored, 'DECLINED');
    return { body, replayed: false };
  }

  private async readBalance(
    session: WalletOwner,
    player: { playerRef: string; currency: string },
    kind: CallKind,
  ): Promise<number> {
    const call = this.wallets.reserve(session, kind);
    if (!call) throw refusedCall();
    const answer = await this.wallets
      .walletOf(session)
      .balance(player)
      .finally(() => call.release());
    if (answer.kind === 'unknown') throw unanswered(answer);
    return answer.balance;
  }
}

function unanswered(unknown: UnknownOutcome): CroupierError {
  return new CroupierError(codeOf(unknown));
}
