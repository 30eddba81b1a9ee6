import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Approval } from '../approvals/approval.js';
import { ApprovalsService } from '../approvals/approvals.service.js';
import type { Executor, GuardedAction, LimitTerms } from '../approvals/guarded-action.js';
import { present } from '../api/lists/item.js';
import type { Actor } from '../audit/actor.js';
import { Audit, type RecordEntry } from '../audit/audit.service.js';
import type { Query } from '../database/database.js';
import { CroupierError } from '../errors/croupier-error.js';
import type { PatchLimitRequest } from '../limits/limit.request.js';
import type { LimitResponse } from '../limits/limit.response.js';
import { LimitsService } from '../limits/limits.service.js';
import {
  type AllLimits,
  areEqual,
  DEFAULT_OPERATOR,
  inEffect,
  isEmpty,
  loosens,
  merged,
  NO_LIMITS,
} from '../limits/rules/in-effect.js';
import { sha256 } from '../runtime/digest.js';
import { TenancyService } from '../tenancy/tenancy.service.js';

type LimitKey = Pick<LimitTerms, 'operatorId' | 'currency'>;

/** `set` has no limits if the operator has none of its own any more. */
export type LimitChange = { readonly set: LimitResponse | undefined } | { readonly approval: Approval };

/**
 * Changes limits. A change that raises or removes a limit in effect waits for the approval of a second person as a
 * whole. Contract, section 9, "Limits and approvals".
 */
@Injectable()
export class LimitChanges implements OnModuleInit {
  constructor(
    private readonly tenancy: TenancyService,
    private readonly limits: LimitsService,
    private readonly approvals: ApprovalsService,
    private readonly audit: Audit,
  ) {}

  onModuleInit(): void {
    this.approvals.register('limit', this.approved);
  }

  /**
   * Replaces all own limits.
   * @throws CroupierError NOT_FOUND · INVALID_REQUEST · CONFLICT if another change of the limits waits for approval
   */
  put(actor: Actor, key: LimitKey, request: PatchLimitRequest): Promise<LimitChange> {
    const limits = merged(NO_LIMITS, request);
    if (isEmpty(limits)) {
      throw new CroupierError('INVALID_REQUEST', 'the body must name a limit; DELETE removes them all');
    }
    return this.change(actor, key, () => limits);
  }

  /**
   * Changes the own limits that the request names. Fields with null are removed.
   * @throws as `put`
   */
  patch(actor: Actor, key: LimitKey, request: PatchLimitRequest): Promise<LimitChange> {
    if (Object.values(request).every((value) => value === undefined)) {
      throw new CroupierError('INVALID_REQUEST', 'the body must name a limit');
    }
    return this.change(actor, key, (own) => merged(own, request));
  }

  /** @throws CroupierError NOT_FOUND, also if there are no limits · CONFLICT as `put` */
  remove(actor: Actor, key: LimitKey): Promise<LimitChange> {
    return this.change(actor, key, (own) => {
      if (isEmpty(own)) {
        throw new CroupierError('NOT_FOUND', 'no limits are set for this operator and currency');
      }
      return NO_LIMITS;
    });
  }

  /** Carries out an approved change in the database transaction of its approval. */
  readonly approved: Executor<'limit'> = {
    role: 'admin',
    // Limits may be set to the same values any number of times, so an earlier change never answers a request.
    isRecorded: () => Promise.resolve(false),
    record: async ({ query }, record, terms, askedBy) => {
      const stored = await this.limits.lock(query, terms);
      const ownAfter = { ...NO_LIMITS, ...terms.ownAfter };
      const isAsApproved =
        areEqual(stored.own, { ...NO_LIMITS, ...terms.ownBefore }) &&
        areEqual(inEffect(stored.own, stored.defaults), { ...NO_LIMITS, ...terms.before }) &&
        areEqual(inEffect(ownAfter, stored.defaults), { ...NO_LIMITS, ...terms.after });
      if (!isAsApproved) {
        throw new CroupierError('CONFLICT', 'the limits have changed since this change was requested');
      }
      await this.replace(query, record, terms, { before: stored.own, after: ownAfter, updatedBy: askedBy });
      return async () => {
        await this.tenancy.reload();
      };
    },
    result: ({ operatorId, currency, ownAfter }) => Promise.resolve({ operatorId, currency, ...ownAfter }),
  };

  private async change(
    actor: Actor,
    key: LimitKey,
    afterOf: (own: AllLimits) => AllLimits,
  ): Promise<LimitChange> {
    if (key.operatorId !== DEFAULT_OPERATOR && !this.tenancy.operator(key.operatorId)) {
      throw new CroupierError('NOT_FOUND', 'no such operator');
    }
    const change = await this.audit.change<LimitChange>(actor, async (transaction, record) => {
      const { query } = transaction;
      const { own: before, defaults } = await this.limits.lock(query, key);
      const after = afterOf(before);
      // Nothing would change, so there is nothing to write, to approve or to audit.
      if (areEqual(before, after)) {
        return { set: isEmpty(after) ? undefined : await this.limits.find(key, query) };
      }
      const inForce = { before: inEffect(before, defaults), after: inEffect(after, defaults) };
      if (loosens(inForce.before, inForce.after)) {
        const action = limitAction(key, inForce, { before, after });
        const outcome = await this.approvals.hold(transaction, record, actor, action);
        if (outcome.kind === 'waiting') return outcome;
      }
      return { set: await this.replace(query, record, key, { before, after, updatedBy: actor.actor }) };
    });
    if ('set' in change) await this.tenancy.reload();
    return change;
  }

  private async replace(
    query: Query,
    record: RecordEntry,
    key: LimitKey,
    { before, after, updatedBy }: Change & { readonly updatedBy: string },
  ): Promise<LimitResponse | undefined> {
    const set = await this.limits.replace(query, key, after, updatedBy);
    await record({
      action: isEmpty(before) ? 'limit.create' : isEmpty(after) ? 'limit.remove' : 'limit.replace',
      target: `limit:${key.operatorId}/${key.currency}`,
      ...(!isEmpty(before) && { before }),
      ...(!isEmpty(after) && { after }),
    });
    return set;
  }
}

/** Own limits, or limits in effect. */
interface Change {
  readonly before: AllLimits;
  readonly after: AllLimits;
}

function limitAction({ operatorId, currency }: LimitKey, inForce: Change, own: Change) {
  const terms: LimitTerms = {
    operatorId,
    currency,
    before: present(inForce.before),
    after: present(inForce.after),
    ownBefore: present(own.before),
    ownAfter: present(own.after),
  };
  return {
    kind: 'limit',
    reference: `${operatorId}/${currency}`,
    terms,
    fingerprint: sha256(JSON.stringify(terms)),
    stake: undefined,
  } as const satisfies GuardedAction;
}
