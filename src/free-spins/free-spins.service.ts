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

/** Whose grants are meant: an operator's own, or everybody's. */
export type Scope = { readonly operatorId: string } | 'everybody';

/** A grant as it is asked for; without a requestRef it gets one, and is not idempotent. */
export type GrantOrder = Omit<NewGrant, 'requestRef' | 'providerId'> & {
  readonly requestRef?: string | null;
};

const NOBODY_KNOWS = 'no outcome was recorded in time: the platform stopped while the provider was called';

/**
 * The promotion tool's grants. Contract, section 6.
 *
 * Invariant: the provider is only called under a record that is committed and ours. A crash after it leaves a
 * lease that runs out: the grant is then FAILED with `outcomeUnknown`, a cancel may be tried again.
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
   * Grants spins to one player; a requestRef that is known answers what is stored and calls nobody.
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
   * Asks the provider what is left; the state does not change.
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
      this.tell(grant, outcome, judged.failure);
      throw new CroupierError('PROVIDER_FAILED', judged.failure.error);
    }
    const { remainingSpins, completed } = judged;
    await this.grants.snapshot(requestRef, remainingSpins, completed);
    return { externalRef, remainingSpins, completed };
  }

  /**
   * Has the provider void what is left of a grant; one that is CANCELLED is answered as it is.
   * @throws CroupierError NOT_FOUND · CONFLICT (a second one while one is under way: wait-then-retry) · PROVIDER_FAILED
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
   * Sends one more grant callback for a FAILED grant, with the same requestRef.
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
   * The game that spins can be granted in now.
   * @throws CroupierError INVALID_REQUEST where an administrator names what is not there · GAME_NOT_CONFIGURED ·
   *   OPERATOR_NOT_CONFIGURED
   */
  gameFor({ operatorId, gameId }: { operatorId: string; gameId: string }, scope: Scope): Game {
    const operator = this.tenancy.operator(operatorId);
    if (!operator) throw new CroupierError('INVALID_REQUEST', 'operatorId names no operator');
    if (operator.status !== 'ACTIVE') throw new CroupierError('OPERATOR_NOT_CONFIGURED');
    const game = this.tenancy.game(gameId);
    // An operator's launch of an unknown game is a 503 as well; an administrator can look it up.
    if (!game && scope === 'everybody') throw new CroupierError('INVALID_REQUEST', 'gameId names no game');
    if (!game || !this.isOpen(game)) throw new CroupierError('GAME_NOT_CONFIGURED');
    return game;
  }

  /** Whether new spins may be granted in it: it and its provider are not disabled. */
  isOpen(game: Game): boolean {
    return game.status === 'ACTIVE' && this.tenancy.provider(game.providerId)?.status === 'ACTIVE';
  }

  /** Sends the grant callback of an attempt that is recorded and ours, once, and answers what is stored then. */
  async send(grant: Grant, attempt: number): Promise<Grant> {
    await this.attempt(grant, attempt);
    return this.stored(grant.requestRef);
  }

  /** As `send`, and answers what the provider said. */
  async attempt(grant: Grant, attempt: number): Promise<CallbackOutcome> {
    const { requestRef, playerRef, gameId, spins, betAmountMinor, currency } = grant;
    const body = { requestRef, playerRef, gameId, spins, betAmountMinor, currency };
    const outcome = await this.call('/v1/game/free-spins/grant', grant, body);
    const judged = judgeGrant(outcome);
    if (judged.ok) {
      await this.book(requestRef, judged.externalRef);
    } else {
      this.tell(grant, outcome, judged.failure);
      await this.grants.failed(requestRef, attempt, judged.failure, saysNo(outcome, judged.failure));
    }
    return outcome;
  }

  /** Gives up what an instance left behind that died; run by and by, and before what is PENDING is shown. */
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

  /** A 200 that is none is a failure that only we can see; its body goes into the error log as any other's. */
  private tell({ requestRef }: Grant, outcome: CallbackOutcome, { error }: Failure): void {
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

  /** @throws CroupierError CONFLICT where the requestRef stands for something else */
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

  /** The grant as it is now, if it was PENDING: its lease may be over. */
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

/** An answer that says no settles what earlier attempts left open; silence, or a yes without a batch, does not. */
function saysNo(outcome: CallbackOutcome, failure: Failure): boolean {
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
