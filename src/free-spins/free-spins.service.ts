import { Injectable, Logger } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
import { CroupierError } from '../errors/croupier-error.js';
import { type CallbackOutcome, ProviderCallbacks } from '../provider-callback/provider-callbacks.service.js';
import { Randomness } from '../runtime/randomness.js';
import { type PageOf, pageById, type PageQuery } from '../http/lists/page.js';
import type { Game } from '../tenancy/tenant.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import type { Grant } from './grant.entity.js';
import { type GrantFilter, GrantStore, type NewGrant } from './grant.store.js';
import { type Failure, judgeCancel, judgeGrant, judgeStatus } from './rules/answers.js';

/** The grants within reach: those of one operator, or all. */
export type Scope = { readonly operatorId: string } | 'everybody';

/** A requested grant; without a requestRef it is given one and is not idempotent. */
export type GrantOrder = Omit<NewGrant, 'requestRef' | 'providerId'> & {
  readonly requestRef?: string | null;
};

const NOBODY_KNOWS = 'no outcome was recorded in time: the platform stopped while the provider was called';

/**
 * Grants of free spins. Contract, section 6.
 *
 * Invariant: a provider is called only after a claim of this instance is committed. After a crash the lease expires: a grant
 * becomes FAILED with `outcomeUnknown`, and a cancel can be tried again.
 */
@Injectable()
export class FreeSpinsService {
  private readonly logger = new Logger('FreeSpins');

  constructor(
    private readonly randomness: Randomness,
    private readonly tenancy: TenancyService,
    private readonly callbacks: ProviderCallbacks,
    private readonly grants: GrantStore,
    private readonly audit: Audit,
  ) {}

  /**
   * Grants spins to one player; a known requestRef returns the stored grant without calling the provider.
   * @throws CroupierError INVALID_REQUEST · CONFLICT · GAME_NOT_CONFIGURED · OPERATOR_NOT_CONFIGURED
   */
  async grant(actor: Actor, order: GrantOrder, scope: Scope): Promise<{ grant: Grant; replayed: boolean }> {
    const requestRef = order.requestRef ?? this.randomness.uuid();
    const known = order.requestRef == null ? null : await this.grants.find(requestRef);
    if (known) return { grant: await this.replayed(known, order), replayed: true };
    const { providerId } = this.gameFor(order, scope);
    const recorded = await this.audit.change(actor, async ({ query }, record) => {
      if (!(await this.grants.record(query, { ...order, requestRef, providerId }))) return false;
      await record({ action: 'free-spins.grant', target: `grant:${requestRef}`, after: order });
      return true;
    });
    if (!recorded) {
      return { grant: await this.replayed(await this.stored(requestRef), order), replayed: true };
    }
    return { grant: await this.send(await this.stored(requestRef), 1), replayed: false };
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
    await this.audit.read(actor, { action: 'free-spins.status', target: `grant:${requestRef}` });
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
    const judged = judgeCancel(await this.call('/v1/game/free-spins/cancel', grant, batchOf(grant)));
    if (!judged.ok) {
      await this.grants.cancelFailed(requestRef, cancelAttempt, judged.failure.error);
      throw new CroupierError('PROVIDER_FAILED', judged.failure.error);
    }
    await this.grants.cancelled(requestRef);
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
      const claimed = await this.grants.resend(query, requestRef);
      const deed = { action: 'free-spins.resend', target: `grant:${requestRef}` };
      if (claimed !== undefined) await record(deed);
      return claimed;
    });
    if (attempt === undefined) throw notFailed(await this.stored(requestRef));
    return this.send(grant, attempt);
  }

  /**
   * The game, if spins can be granted in it now.
   * @throws CroupierError INVALID_REQUEST if an administrator names an unknown operator or game · GAME_NOT_CONFIGURED ·
   *   OPERATOR_NOT_CONFIGURED
   */
  gameFor({ operatorId, gameId }: { operatorId: string; gameId: string }, scope: Scope): Game {
    const operator = this.tenancy.operator(operatorId);
    if (!operator) throw new CroupierError('INVALID_REQUEST', 'operatorId names no operator');
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

/** A refusal settles earlier attempts, too; no answer, or a success without a batch, does not. */
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
