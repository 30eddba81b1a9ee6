import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Approval } from '../approvals/approval.js';
import { ApprovalsService, type Held } from '../approvals/approvals.service.js';
import type { Deed, Executor, GrantTerms } from '../approvals/deeds.js';
import type { Actor } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
import { RepeatedEntries } from '../audit/repeated-entries.js';
import type { Deed as AuditDeed } from '../audit/entry.js';
import type { Query } from '../database/database.js';
import { CroupierError } from '../errors/croupier-error.js';
import { addLogFields } from '../observability/trace.js';
import { type CallbackOutcome, ProviderCallbacks } from '../provider-callback/provider-callbacks.service.js';
import { money } from '../money/money.js';
import { LimitsService } from '../limits/limits.service.js';
import { sha256 } from '../runtime/digest.js';
import { Randomness } from '../runtime/randomness.js';
import { type PageOf, pageById, type PageQuery } from '../http/lists/page.js';
import { assertCurrency, type Game } from '../tenancy/tenant.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import type { Grant } from './grant.entity.js';
import { type GrantFilter, GrantStore, type NewGrant } from './grant.store.js';
import { grantResponse, type Preview } from './free-spins.response.js';
import { type Failure, judgeCancel, judgeGrant, judgeStatus } from './rules/answers.js';
import { type Spins, stakeMinorOf } from './rules/stake.js';

/** The grants within reach: those of one operator, or all. */
export type Scope = { readonly operatorId: string } | 'everybody';

/** A requested grant. Without a requestRef it gets a generated one and is not idempotent. */
export type GrantOrder = Omit<NewGrant, 'requestRef' | 'providerId'> & {
  readonly requestRef?: string | null;
};

/** A grant, new or known, or the approval that it waits for. */
export type GrantOutcome =
  { readonly grant: Grant; readonly replayed: boolean } | { readonly approval: Approval };

const NOBODY_KNOWS = 'no outcome was recorded in time: the platform stopped while the provider was called';

/**
 * Grants of free spins. Contract, section 6.
 *
 * Invariant: a provider is called only after a claim of this instance is committed. After a crash the lease expires: a grant
 * becomes FAILED with `outcomeUnknown`, and a cancel can be tried again.
 */
@Injectable()
export class FreeSpinsService implements OnModuleInit {
  private readonly logger = new Logger('FreeSpins');

  constructor(
    private readonly randomness: Randomness,
    private readonly tenancy: TenancyService,
    private readonly callbacks: ProviderCallbacks,
    private readonly grants: GrantStore,
    private readonly limits: LimitsService,
    private readonly approvals: ApprovalsService,
    private readonly audit: Audit,
    private readonly repeated: RepeatedEntries,
  ) {}

  onModuleInit(): void {
    this.approvals.register('grant', this.approved);
  }

  /**
   * Grants spins to one player; a known requestRef returns the stored grant without calling the provider. A grant above
   * a limit waits for approval.
   * @throws CroupierError INVALID_REQUEST · CONFLICT · GAME_NOT_CONFIGURED · OPERATOR_NOT_CONFIGURED
   */
  async grant(actor: Actor, order: GrantOrder, scope: Scope): Promise<GrantOutcome> {
    const requestRef = order.requestRef ?? this.randomness.uuid();
    addLogFields({ requestRef, operatorId: order.operatorId });
    const known = order.requestRef == null ? null : await this.grants.find(requestRef);
    if (known) return { grant: await this.replayed(known, order), replayed: true };
    const { providerId } = this.gameFor(order, scope);
    const deed = grantDeed(requestRef, order);
    const held = await this.audit.change(actor, async (transaction, record): Promise<Held> => {
      const judged = await this.approvals.hold(transaction, record, actor, deed);
      if (judged.kind !== 'free') return judged;
      const grant = { ...deed.terms, providerId };
      if (!(await this.grants.record(transaction.query, grant))) return { kind: 'recorded' };
      await record(granting(deed.terms));
      return judged;
    });
    if (held.kind === 'waiting') return held;
    if (held.kind === 'recorded') {
      return { grant: await this.replayed(await this.stored(requestRef), order), replayed: true };
    }
    return { grant: await this.send(await this.stored(requestRef), 1), replayed: false };
  }

  /** Records an approved grant as unsent. It is sent after the commit, by this request or by any instance. */
  readonly approved: Executor<'grant'> = {
    role: 'promotions',
    isRecorded: (query, { requestRef }) => this.grants.isRecorded(query, requestRef),
    record: async ({ query }, record, terms) => {
      const { providerId } = this.gameFor(terms, 'everybody');
      if (!(await this.grants.recordUnsent(query, { ...terms, providerId }))) {
        throw new CroupierError('CONFLICT', 'this requestRef was already used with another request');
      }
      await record(granting(terms));
      return async () => {
        const grant = await this.grants.take(terms.requestRef);
        if (grant) await this.attempt(grant, grant.attempt);
      };
    },
    result: async ({ requestRef }) => {
      const grant = await this.current(await this.stored(requestRef));
      return grant.failureError === null ? grantResponse(grant) : { error: grant.failureError };
    },
  };

  /** The stake of a grant, and whether it needs approval. @throws CroupierError as `grant` does, except CONFLICT */
  async preview(order: GrantOrder): Promise<Preview> {
    this.gameFor(order, 'everybody');
    const { terms, stake } = grantDeed('preview', order);
    return { stakeMinor: stake.amountMinor, limit: await this.limits.preview(terms, stake) };
  }

  /** The local record; the provider is not called. @throws CroupierError NOT_FOUND */
  async find(requestRef: string, scope: Scope): Promise<Grant> {
    const grant = await this.grants.find(requestRef);
    if (!grant || (scope !== 'everybody' && grant.operatorId !== scope.operatorId)) {
      throw new CroupierError('NOT_FOUND', 'no such grant');
    }
    return this.current(grant);
  }

  /** Newest first. @throws CroupierError INVALID_REQUEST */
  async list(filter: GrantFilter, page: PageQuery): Promise<PageOf<Grant>> {
    await this.expire();
    return pageById(
      page,
      ({ after, limit }) => this.grants.list(filter, before(after), limit),
      (grant) => String(grant.grantNo),
    );
  }

  /**
   * Asks the provider for the remaining spins; the state does not change.
   * @throws CroupierError NOT_FOUND · CONFLICT · PROVIDER_FAILED
   */
  async pullStatus(
    actor: Actor,
    requestRef: string,
    scope: Scope,
  ): Promise<{ externalRef: string; remainingSpins: number; completed: boolean }> {
    const grant = await this.find(requestRef, scope);
    const { externalRef, state } = grant;
    if (externalRef === null)
      throw new CroupierError('CONFLICT', `the grant is ${state}: there is no batch to ask for`);
    const outcome = await this.call('/v1/game/free-spins/status', grant, batchOf(grant));
    await this.repeated.record(actor, { action: 'free-spins.status', target: `grant:${requestRef}` });
    const judged = judgeStatus(outcome);
    if (!judged.ok) {
      this.logUnusable(grant, outcome, judged.failure);
      throw new CroupierError('PROVIDER_FAILED', judged.failure.error);
    }
    const { remainingSpins, completed } = judged;
    await this.grants.snapshot(requestRef, remainingSpins, completed);
    return { externalRef, remainingSpins, completed };
  }

  /**
   * Has the provider void the remaining spins; a CANCELLED grant is returned unchanged.
   * @throws CroupierError NOT_FOUND · CONFLICT (wait-then-retry while another cancel is under way) · PROVIDER_FAILED
   */
  async cancel(actor: Actor, requestRef: string, scope: Scope): Promise<Grant> {
    const grant = await this.find(requestRef, scope);
    if (grant.state === 'CANCELLED') return grant;
    if (grant.state !== 'GRANTED')
      throw new CroupierError('CONFLICT', `the grant is ${grant.state}: nothing can be cancelled`);
    const cancelAttempt = await this.audit.change(actor, async ({ query }, record) => {
      const claimed = await this.grants.claimCancel(query, requestRef);
      const deed = { action: 'free-spins.cancel', target: `grant:${requestRef}` };
      if (claimed !== undefined) await record(deed);
      return claimed;
    });
    if (cancelAttempt === undefined) return this.cancelledByAnother(requestRef);
    const { failure } = await this.sendCancel(grant, cancelAttempt);
    if (failure) throw new CroupierError('PROVIDER_FAILED', failure.error);
    return this.stored(requestRef);
  }

  /** Sends the callback of a claimed cancel once, and records the outcome. */
  async sendCancel(
    grant: Grant,
    cancelAttempt: number,
  ): Promise<{ outcome: CallbackOutcome; failure?: Failure }> {
    const outcome = await this.call('/v1/game/free-spins/cancel', grant, batchOf(grant));
    const judged = judgeCancel(outcome);
    if (judged.ok) {
      await this.grants.cancelled(grant.requestRef);
      return { outcome };
    }
    await this.grants.cancelFailed(grant.requestRef, cancelAttempt, judged.failure.error);
    return { outcome, failure: judged.failure };
  }

  /**
   * Makes sure that a FAILED grant of unknown outcome is not live: it is sent once more with the same requestRef, to learn
   * its batch, which is then cancelled. A CANCELLED grant is returned unchanged. Contract, section 9.
   * @returns the grant, CANCELLED; or FAILED, or GRANTED with `lastCancelError`, if the provider fails
   * @throws CroupierError NOT_FOUND · CONFLICT
   */
  async void(actor: Actor, requestRef: string, scope: Scope): Promise<Grant> {
    const grant = await this.find(requestRef, scope);
    if (grant.state === 'CANCELLED') return grant;
    const attempt = await this.audit.change(actor, async ({ query }, record) => {
      const claimed = await this.grants.resend(query, requestRef, true);
      const deed = { action: 'free-spins.void', target: `grant:${requestRef}` };
      if (claimed !== undefined) await record(deed);
      return claimed;
    });
    if (attempt === undefined) {
      const { state } = await this.stored(requestRef);
      throw new CroupierError(
        'CONFLICT',
        `the grant is ${state}: only a FAILED one of unknown outcome is voided`,
      );
    }
    const sent = await this.send(grant, attempt);
    if (sent.state !== 'GRANTED') return sent;
    const cancelAttempt = await this.audit.change(actor, ({ query }) =>
      this.grants.claimCancel(query, requestRef),
    );
    if (cancelAttempt === undefined) return this.cancelledByAnother(requestRef);
    await this.sendCancel(sent, cancelAttempt);
    return this.stored(requestRef);
  }

  /**
   * Sends another callback for a FAILED grant, with the same requestRef.
   * @throws CroupierError NOT_FOUND · CONFLICT · GAME_NOT_CONFIGURED · OPERATOR_NOT_CONFIGURED
   */
  async resend(actor: Actor, requestRef: string, scope: Scope): Promise<Grant> {
    const grant = await this.find(requestRef, scope);
    if (grant.state !== 'FAILED') throw notFailed(grant);
    this.gameFor(grant, scope);
    const attempt = await this.audit.change(actor, async ({ query }, record) => {
      // Grants that may have been booked are counted already.
      if (!grant.outcomeUnknown) await this.assertWithinDay(query, grant, stakeMinorOf(grant) ?? Infinity);
      const claimed = await this.grants.resend(query, requestRef);
      const deed = { action: 'free-spins.resend', target: `grant:${requestRef}` };
      if (claimed !== undefined) await record(deed);
      return claimed;
    });
    if (attempt === undefined) throw notFailed(await this.stored(requestRef));
    return this.send(grant, attempt);
  }

  /**
   * Refuses a resend that would exceed the daily limit. The lock lasts until the transaction ends.
   * @throws CroupierError CONFLICT
   */
  async assertWithinDay(
    query: Query,
    key: { operatorId: string; currency: string },
    amountMinor: number,
  ): Promise<void> {
    const limit = await this.limits.exceededDay(query, key, amountMinor);
    if (!limit) return;
    const { limitMinor, usedMinor } = limit;
    const [most, used] = [limitMinor, usedMinor].map((minor) => money(minor, key.currency));
    throw new CroupierError(
      'CONFLICT',
      `sending it again would exceed the daily limit of ${most}, of which ${used} are used`,
    );
  }

  /**
   * The game, if spins can be granted in it now.
   * @throws CroupierError INVALID_REQUEST if an administrator names an unknown operator or game · GAME_NOT_CONFIGURED ·
   *   OPERATOR_NOT_CONFIGURED
   */
  gameFor(
    { operatorId, gameId, currency }: Pick<NewGrant, 'operatorId' | 'gameId' | 'currency'>,
    scope: Scope,
  ): Game {
    const operator = this.tenancy.operator(operatorId);
    if (!operator) throw new CroupierError('INVALID_REQUEST', 'operatorId names no operator');
    assertCurrency(operator, currency);
    if (operator.status !== 'ACTIVE') throw new CroupierError('OPERATOR_NOT_CONFIGURED');
    const game = this.tenancy.game(gameId);
    // An operator gets a 503, as for the launch of an unknown game; an administrator can look the game up.
    if (!game && scope === 'everybody') throw new CroupierError('INVALID_REQUEST', 'gameId names no game');
    if (!game || !this.isOpen(game)) throw new CroupierError('GAME_NOT_CONFIGURED');
    return game;
  }

  /** Whether spins may be granted in a game: neither it nor its provider is disabled. */
  isOpen(game: Game): boolean {
    return game.status === 'ACTIVE' && this.tenancy.provider(game.providerId)?.status === 'ACTIVE';
  }

  /** Sends the callback of a claimed attempt once, and returns the grant as stored afterwards. */
  async send(grant: Grant, attempt: number): Promise<Grant> {
    await this.attempt(grant, attempt);
    return this.stored(grant.requestRef);
  }

  /** Sends the callback of a claimed attempt once, records the outcome and returns it. */
  async attempt(grant: Grant, attempt: number): Promise<CallbackOutcome> {
    const { requestRef, playerRef, gameId, spins, betAmountMinor, currency } = grant;
    const body = { requestRef, playerRef, gameId, spins, betAmountMinor, currency };
    const outcome = await this.call('/v1/game/free-spins/grant', grant, body);
    const judged = judgeGrant(outcome);
    if (judged.ok) {
      await this.book(requestRef, judged.externalRef);
    } else {
      this.logUnusable(grant, outcome, judged.failure);
      await this.grants.failed(requestRef, attempt, judged.failure, isRefusal(outcome, judged.failure));
    }
    return outcome;
  }

  /** Fails grants whose instance crashed; called periodically, and before a PENDING grant is returned. */
  async expire(): Promise<void> {
    for (const requestRef of await this.grants.expire(NOBODY_KNOWS)) {
      this.logger.error({ msg: 'the outcome of a grant callback is not known', requestRef });
    }
  }

  private async book(requestRef: string, externalRef: string): Promise<void> {
    if (await this.grants.granted(requestRef, externalRef)) return;
    const stored = await this.grants.find(requestRef);
    if (stored?.externalRef === externalRef) return;
    const kept = stored?.externalRef;
    this.logger.error({
      msg: 'the provider named another batch for the same grant',
      requestRef,
      kept,
      externalRef,
    });
  }

  /** Logs a 200 with an unusable body; `ProviderCallbacks` logs all other failures. */
  private logUnusable({ requestRef }: Grant, outcome: CallbackOutcome, { error }: Failure): void {
    if (outcome.kind === 'unanswered' || outcome.status !== 200) return;
    const answer = outcome.words;
    this.logger.error({ msg: 'the provider answered 200, but not as it should', requestRef, error, answer });
  }

  private call(
    route: Parameters<ProviderCallbacks['call']>[0]['route'],
    { providerId, requestRef }: Grant,
    body: object,
  ): Promise<CallbackOutcome> {
    return this.callbacks.call({ providerId, route, reference: requestRef, body });
  }

  /** @throws CroupierError CONFLICT if the stored grant differs from the request */
  private async replayed(stored: Grant, order: GrantOrder): Promise<Grant> {
    const same = (
      ['operatorId', 'playerRef', 'gameId', 'spins', 'betAmountMinor', 'currency'] as const
    ).every((field) => stored[field] === order[field]);
    if (!same) throw new CroupierError('CONFLICT', 'this requestRef was already used with another request');
    return this.current(stored);
  }

  private async cancelledByAnother(requestRef: string): Promise<Grant> {
    const grant = await this.stored(requestRef);
    if (grant.state === 'CANCELLED') return grant;
    const wait = { 'X-Next-Action': 'wait-then-retry' };
    throw new CroupierError('CONFLICT', 'another cancel of this grant is under way', wait);
  }

  /** Reads a PENDING grant again, because its lease may have expired. */
  private async current(grant: Grant): Promise<Grant> {
    if (grant.state !== 'PENDING') return grant;
    await this.expire();
    return this.stored(grant.requestRef);
  }

  private async stored(requestRef: string): Promise<Grant> {
    const grant = await this.grants.find(requestRef);
    if (!grant) throw new Error(`the grant ${requestRef} is gone`);
    return grant;
  }
}

/** @throws CroupierError INVALID_REQUEST if the stake is beyond 2^53−1 */
function grantDeed(requestRef: string, order: GrantOrder) {
  const { operatorId, playerRef, gameId, spins, betAmountMinor, currency } = order;
  const terms: GrantTerms = {
    requestRef,
    operatorId,
    playerRef,
    gameId,
    spins,
    betAmountMinor,
    currency,
  };
  const fields = [operatorId, playerRef, gameId, spins, betAmountMinor, currency];
  return {
    kind: 'grant',
    reference: requestRef,
    terms,
    fingerprint: sha256(JSON.stringify(fields)),
    stake: { kind: 'grant', amountMinor: stakeOf(order) },
  } as const satisfies Deed;
}

/** @throws CroupierError INVALID_REQUEST if the stake is beyond 2^53−1 */
export function stakeOf(spins: Spins, players = 1): number {
  const stakeMinor = stakeMinorOf(spins, players);
  if (stakeMinor !== undefined) return stakeMinor;
  const product = players === 1 ? 'spins × betAmountMinor' : 'spins × betAmountMinor × players';
  throw new CroupierError('INVALID_REQUEST', `the stake, ${product}, must be at most 2^53−1`);
}

function granting(terms: GrantTerms): AuditDeed {
  return { action: 'free-spins.grant', target: `grant:${terms.requestRef}`, after: terms };
}

/** A refusal also settles earlier attempts; no answer, or a success without a batch, does not. */
function isRefusal(outcome: CallbackOutcome, failure: Failure): boolean {
  return outcome.kind === 'answered' && !failure.outcomeUnknown;
}

function batchOf({ externalRef, playerRef, gameId }: Grant): object {
  return { externalRef, playerRef, gameId };
}

function notFailed({ state }: Grant): CroupierError {
  return new CroupierError('CONFLICT', `the grant is ${state}: only a FAILED one can be sent again`);
}

/** @param after the text of a cursor; empty for the first page */
function before(after: string): number | undefined {
  if (after === '') return undefined;
  if (!/^\d{1,15}$/.test(after)) {
    throw new CroupierError('INVALID_REQUEST', 'cursor must be the nextCursor of an earlier page');
  }
  return Number(after);
}
