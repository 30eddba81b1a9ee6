import { Injectable, type OnModuleInit } from '@nestjs/common';
import { invalidCursor } from '../../api/lists/invalid-cursor.js';
import type { Approval } from '../../approvals/approval.js';
import { ApprovalsService, isFirst } from '../../approvals/approvals.service.js';
import type { GuardedAction, Executor, GrantTerms } from '../../approvals/guarded-action.js';
import type { Actor } from '../../audit/actor.js';
import { Audit } from '../../audit/audit.service.js';
import { RepeatedEntries } from '../../audit/repeated-entries.js';
import type { NewEntry } from '../../audit/entry.js';
import { DatabaseClock } from '../../database/database-clock.js';
import { alreadyUsed } from '../../errors/already-used.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { conflictForNow } from '../../errors/try-later.js';
import { addLogFields } from '../../observability/trace.js';
import { LimitsService } from '../../limits/limits.service.js';
import { sha256 } from '../../runtime/digest.js';
import { Randomness } from '../../runtime/randomness.js';
import { type PageOf, pageById, type PageQuery } from '../../api/lists/page.js';
import { assertAhead, assertNotExpired, expiryOf } from './expiry.js';
import { GrantableGames, type Scope, UNKNOWN_WHETHER_OPEN } from './grantable-games.js';
import { GrantCallbacks } from './grant-callbacks.js';
import type { Grant } from './grant.entity.js';
import type { GrantFilter } from './grant-page.store.js';
import { GrantStore, type NewGrant } from './grant.store.js';
import { grantResponse, type GrantResponse, type GrantStatusResponse } from './grant.response.js';
import { USED_STAKES } from './grant.sql.js';
import { type PreviewResponse, previewResponse } from './preview.response.js';
import { type Spins, stakeMinorOf } from '../rules/stake.js';

/** A requested grant. Without a requestRef, one is generated, and the request is not idempotent. */
type GrantOrder = Omit<NewGrant, 'requestRef' | 'providerId' | 'expiresAt'> & {
  readonly requestRef?: string | null;
  readonly expiresAt?: string | null;
};

/** A grant, new or known, or the approval that it waits for. */
export type GrantOutcome =
  { readonly grant: Grant; readonly replayed: boolean } | { readonly approval: Approval };

/** Records, reads and changes grants of free spins; `GrantCallbacks` calls their providers. Contract, section 6. */
@Injectable()
export class GrantsService implements OnModuleInit {
  constructor(
    private readonly randomness: Randomness,
    private readonly games: GrantableGames,
    private readonly callbacks: GrantCallbacks,
    private readonly grants: GrantStore,
    private readonly limits: LimitsService,
    private readonly approvals: ApprovalsService,
    private readonly audit: Audit,
    private readonly repeated: RepeatedEntries,
    private readonly databaseClock: DatabaseClock,
  ) {}

  onModuleInit(): void {
    this.approvals.register('grant', this.approved);
    this.limits.countTowardsDay(USED_STAKES);
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
    const { providerId } = this.games.find(order, scope);
    const action = grantAction(requestRef, order);
    const outcome = await this.audit.change(actor, async (transaction, record) => {
      const holdOutcome = await this.approvals.hold(transaction, record, actor, action);
      // A repetition is not refused, although less time may be left until its expiresAt.
      if (isFirst(holdOutcome)) assertAhead(expiryOf(order.expiresAt), this.databaseClock.now());
      if (holdOutcome.kind !== 'free') return holdOutcome;
      const recorded = await this.grants.record(transaction.query, newGrant(action.terms, providerId));
      if (!recorded) return { kind: 'recorded' as const };
      await record(granting(action.terms));
      return { kind: 'new' as const, recorded };
    });
    if (outcome.kind === 'waiting') return outcome;
    if (outcome.kind === 'recorded') {
      return { grant: await this.replayed(await this.grants.stored(requestRef), order), replayed: true };
    }
    return { grant: await this.callbacks.send(outcome.recorded), replayed: false };
  }

  /**
   * Records an approved grant as unsent. After the commit, the request that approved the grant sends it, unless the
   * `QueueRunner` of an instance has claimed it first, or it must not be sent any more: the commit may have taken long.
   */
  readonly approved: Executor<'grant'> = {
    role: 'promotions',
    isRecorded: (query, { requestRef }) => this.grants.isRecorded(query, requestRef),
    record: async ({ query }, record, terms) => {
      const { providerId } = this.games.find(terms, 'everybody');
      assertNotExpired(terms.expiresAt ?? null, this.databaseClock.now());
      if (!(await this.grants.recordUnsent(query, newGrant(terms, providerId))))
        throw alreadyUsed('requestRef');
      await record(granting(terms));
      return async () => {
        const grant = await this.grants.claim(terms.requestRef);
        if (!grant) return;
        const verdict = await this.games.verdictOn(grant);
        if (verdict === 'send') await this.callbacks.sendQueued(grant);
        else if (verdict === 'unknown') await this.grants.unclaim(grant, UNKNOWN_WHETHER_OPEN);
        else await this.grants.recordNotSent(grant, verdict.refusal);
      };
    },
    result: async ({ requestRef }) => {
      const grant = await this.current(await this.grants.stored(requestRef));
      return grant.failureError === null ? grantResponse(grant) : { error: grant.failureError };
    },
  };

  /**
   * Computes the stake of a grant and whether the grant needs approval.
   * @throws CroupierError as `grant` does, except CONFLICT
   */
  async preview(order: GrantOrder): Promise<PreviewResponse> {
    this.games.find(order, 'everybody');
    assertAhead(expiryOf(order.expiresAt), this.databaseClock.now());
    const { terms, stake } = grantAction('preview', order);
    return previewResponse(terms, stake, await this.limits.preview(terms, stake));
  }

  /**
   * Returns the stored grant. The provider is not called.
   * @throws CroupierError NOT_FOUND
   */
  async find(requestRef: string, scope: Scope): Promise<Grant> {
    const grant = await this.grants.find(requestRef);
    if (!grant || (scope !== 'everybody' && grant.operatorId !== scope.operatorId)) {
      throw new CroupierError('NOT_FOUND', 'no such grant');
    }
    return this.current(grant);
  }

  /**
   * Fails grants whose lease has expired, and lists grants, newest first.
   * @throws CroupierError INVALID_REQUEST
   */
  async list(query: GrantFilter & PageQuery): Promise<PageOf<GrantResponse>> {
    await this.callbacks.expire();
    const { items, ...page } = await pageById(
      query,
      ({ after, limit }) => this.grants.list(query, before(after), limit),
      (grant) => String(grant.grantNo),
    );
    return { items: items.map(grantResponse), ...page };
  }

  /**
   * Asks the provider for the remaining spins; the state does not change.
   * @returns the provider's answer, even if it is not stored because the grant is completed already
   * @throws CroupierError NOT_FOUND · CONFLICT if the grant has no externalRef · PROVIDER_FAILED
   */
  async pullStatus(actor: Actor, requestRef: string, scope: Scope): Promise<GrantStatusResponse> {
    const grant = await this.find(requestRef, scope);
    const { externalRef, state } = grant;
    if (externalRef === null)
      throw new CroupierError('CONFLICT', `the grant is ${state}: it has no externalRef to ask about`);
    const judged = await this.callbacks.pullStatus(grant);
    await this.repeated.record(actor, { action: 'free-spins.status', target: `grant:${requestRef}` });
    if (!judged.ok) throw new CroupierError('PROVIDER_FAILED', judged.failure.error);
    const { remainingSpins, completed } = judged;
    await this.grants.recordStatus(requestRef, remainingSpins, completed);
    return { requestRef, externalRef, remainingSpins, completed };
  }

  /**
   * Has the provider void the remaining spins; a CANCELLED grant is returned unchanged.
   * @throws CroupierError NOT_FOUND · CONFLICT if the grant is not GRANTED, a newer one has its externalRef, or another
   *   cancel is under way (`wait-then-retry`) · PROVIDER_FAILED
   */
  async cancel(actor: Actor, requestRef: string, scope: Scope): Promise<Grant> {
    const grant = await this.find(requestRef, scope);
    if (grant.state === 'CANCELLED') return grant;
    if (grant.state !== 'GRANTED')
      throw new CroupierError('CONFLICT', `the grant is ${grant.state}: nothing can be cancelled`);
    const cancel = await this.audit.change(actor, async ({ query }, record) => {
      const claimed = await this.grants.claimCancel(query, requestRef);
      if (claimed) await record({ action: 'free-spins.cancel', target: `grant:${requestRef}` });
      return claimed;
    });
    if (!cancel) return this.notClaimed(requestRef);
    const { grant: cancelled, failure } = await this.callbacks.sendCancel(cancel);
    if (failure) throw new CroupierError('PROVIDER_FAILED', failure.error);
    return cancelled;
  }

  /**
   * Makes sure that a FAILED grant of unknown outcome is not live: it is sent once more with the same requestRef, to
   * learn its externalRef, and then cancelled. If this instance dies in between, another one cancels it. A CANCELLED
   * grant is returned unchanged. Contract, section 9.
   * @returns the CANCELLED grant; if the provider fails, a grant that is FAILED, or GRANTED with `lastCancelError`
   * @throws CroupierError NOT_FOUND · CONFLICT if the grant is not FAILED with an unknown outcome, was sent again
   *   meanwhile, or another cancel is under way
   */
  async void(actor: Actor, requestRef: string, scope: Scope): Promise<Grant> {
    const grant = await this.find(requestRef, scope);
    if (grant.state === 'CANCELLED') return grant;
    const attempted = await this.audit.change(actor, async ({ query }, record) => {
      const claimed = await this.grants.void(query, requestRef);
      if (claimed) await record({ action: 'free-spins.void', target: `grant:${requestRef}` });
      return claimed;
    });
    if (!attempted) {
      const { state } = await this.grants.stored(requestRef);
      throw new CroupierError(
        'CONFLICT',
        `the grant is ${state}: only a FAILED one of unknown outcome is voided`,
      );
    }
    const sent = await this.callbacks.send(attempted, true);
    if (sent.state !== 'GRANTED') return sent;
    // The cancel may be unclaimed: a late answer to an earlier attempt makes the grant GRANTED, but does not claim the
    // cancel. It is no longer due if a person has resent the grant after this attempt's lease ended.
    const claim = () =>
      this.audit.change(actor, ({ query }) => this.grants.claimCancel(query, requestRef, true), 'begun');
    const { cancelAttempt, claimedMs } = sent;
    const isClaimed = cancelAttempt != null && claimedMs !== undefined;
    const cancel = isClaimed ? { ...sent, cancelAttempt, claimedMs } : await claim();
    if (!cancel)
      return this.notClaimed(requestRef, 'the grant was sent again, or another cancel is under way');
    return (await this.callbacks.sendCancel(cancel)).grant;
  }

  /**
   * Sends another callback for a FAILED grant, with the same requestRef.
   * @throws CroupierError NOT_FOUND · CONFLICT if it is not FAILED, has expired, or would exceed the daily limit ·
   *   GAME_NOT_CONFIGURED · OPERATOR_NOT_CONFIGURED · INVALID_REQUEST if the operator no longer accepts the currency
   */
  async resend(actor: Actor, requestRef: string, scope: Scope): Promise<Grant> {
    const grant = await this.find(requestRef, scope);
    if (grant.state !== 'FAILED') throw notFailed(grant);
    assertNotExpired(grant.expiresAt, this.databaseClock.now());
    this.games.assertResendable(grant, scope);
    const attempted = await this.audit.change(actor, async ({ query }, record) => {
      const claimed = await this.limits.withinDay(query, grant, () => this.grants.resend(query, requestRef));
      if (claimed) await record({ action: 'free-spins.resend', target: `grant:${requestRef}` });
      return claimed;
    });
    if (!attempted) throw await this.notResendable(requestRef);
    return this.callbacks.send(attempted);
  }

  /** @throws CroupierError CONFLICT if the stored grant differs from the request */
  private async replayed(stored: Grant, order: GrantOrder): Promise<Grant> {
    const expiresAt = stored.expiresAt?.toISOString() ?? null;
    if (!fingerprintOf({ ...stored, expiresAt }).equals(fingerprintOf(order)))
      throw alreadyUsed('requestRef');
    return this.current(stored);
  }

  private async notResendable(requestRef: string): Promise<CroupierError> {
    const grant = await this.grants.stored(requestRef);
    if (grant.state !== 'FAILED') return notFailed(grant);
    return new CroupierError('CONFLICT', 'its expiresAt has passed');
  }

  /**
   * Returns the grant if another cancel was faster, or throws why its cancel cannot be claimed.
   * @param why unless a newer grant has its externalRef
   */
  private async notClaimed(
    requestRef: string,
    why = 'another cancel of this grant is under way',
  ): Promise<Grant> {
    const grant = await this.grants.stored(requestRef);
    if (grant.state === 'CANCELLED') return grant;
    const successor = await this.grants.successorOf(requestRef);
    if (successor !== undefined)
      throw new CroupierError(
        'CONFLICT',
        `a cancel would void the newer grant ${successor}, which has its externalRef`,
      );
    throw conflictForNow(why);
  }

  /** Returns the grant as it is now. If it is PENDING, fails grants with an expired lease and reads it again. */
  private async current(grant: Grant): Promise<Grant> {
    if (grant.state !== 'PENDING') return grant;
    await this.callbacks.expire();
    return this.grants.stored(grant.requestRef);
  }
}

/** @throws CroupierError INVALID_REQUEST if the stake exceeds 2^53−1 */
function grantAction(requestRef: string, order: GrantOrder) {
  const { operatorId, playerRef, gameId, spins, betAmountMinor, currency } = order;
  const expiresAt = expiryOf(order.expiresAt);
  const terms: GrantTerms = {
    requestRef,
    operatorId,
    playerRef,
    gameId,
    spins,
    betAmountMinor,
    currency,
    ...(expiresAt !== null && { expiresAt }),
  };
  return {
    kind: 'grant',
    reference: requestRef,
    terms,
    fingerprint: fingerprintOf(order),
    stake: { kind: 'grant', amountMinor: stakeOf(order) },
  } as const satisfies GuardedAction;
}

/** Two requests with one requestRef are the same if this is. */
function fingerprintOf(order: GrantOrder): Buffer {
  const { operatorId, playerRef, gameId, spins, betAmountMinor, currency } = order;
  const expiresAt = expiryOf(order.expiresAt);
  const fields = [operatorId, playerRef, gameId, spins, betAmountMinor, currency, expiresAt];
  return sha256(JSON.stringify(fields));
}

/** @throws CroupierError INVALID_REQUEST if the stake exceeds 2^53−1 */
export function stakeOf(spins: Spins, players = 1): number {
  const stakeMinor = stakeMinorOf(spins, players);
  if (stakeMinor !== undefined) return stakeMinor;
  const product = players === 1 ? 'spins × betAmountMinor' : 'spins × betAmountMinor × players';
  throw new CroupierError('INVALID_REQUEST', `the stake, ${product}, must be at most 2^53−1`);
}

function newGrant(terms: GrantTerms, providerId: string): NewGrant {
  return { ...terms, providerId, expiresAt: terms.expiresAt ?? null };
}

function granting(terms: GrantTerms): NewEntry {
  return { action: 'free-spins.grant', target: `grant:${terms.requestRef}`, after: terms };
}

function notFailed({ state }: Grant): CroupierError {
  return new CroupierError('CONFLICT', `the grant is ${state}: only a FAILED one can be sent again`);
}

/** @param after the text of a cursor; empty for the first page */
function before(after: string): number | undefined {
  if (after === '') return undefined;
  if (!/^\d{1,15}$/.test(after)) throw invalidCursor();
  return Number(after);
}
