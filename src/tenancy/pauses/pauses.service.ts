import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { Audit } from '../../audit/audit.service.js';
import type { Transaction } from '../../database/database.js';
import { DatabaseClock } from '../../database/database-clock.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { answerOf } from '../../api/answer.js';
import { present } from '../../api/lists/item.js';
import { pageById, type PageOf, type PageQuery } from '../../api/lists/page.js';
import { isIdentifier } from '../../api/validation/identifier.js';
import { futureInstant } from '../../api/validation/instant.js';
import { TenancyService } from '../tenancy.service.js';
import { auditTargetOf, nounOf } from '../tenant.js';
import { isInForce, type Pause, PAUSED_KINDS, type PausedKind } from './pause.entity.js';
import type { PauseRequest, ResumeRequest } from './pause.request.js';
import { type PauseItem, PauseResponse } from './pause.response.js';
import { PauseStore } from './pause.store.js';

/** An operator, provider or game with its current pause. */
export type WithPause<T> = T & { readonly pause: PauseResponse | null };

/** Pauses and resumes operators, providers and games. Contract, section 9, "Health and pauses". */
@Injectable()
export class PausesService {
  constructor(
    private readonly tenancy: TenancyService,
    private readonly pauses: PauseStore,
    private readonly audit: Audit,
    private readonly databaseClock: DatabaseClock,
  ) {}

  /**
   * Pauses an operator, provider or game; replaces an earlier pause.
   * @throws CroupierError INVALID_REQUEST if `until` is not in the future · NOT_FOUND
   */
  async pause(actor: Actor, kind: PausedKind, id: string, { reason, until }: PauseRequest): Promise<void> {
    const end = until == null ? null : futureInstant('until', until, this.databaseClock.now());
    await this.audit.change(actor, async (transaction, record) => {
      const before = await this.lockPause(transaction, kind, id);
      const { actor: by, name: byName = null } = actor;
      const after = await this.pauses.put(transaction, { kind, id, reason, until: end, by, byName });
      await record({
        action: `${nounOf(kind)}.pause`,
        target: auditTargetOf({ kind, id }),
        ...(before && { before: { pause: answerOf(PauseResponse, before) } }),
        after: { pause: answerOf(PauseResponse, after) },
      });
    });
    await this.tenancy.reload();
  }

  /**
   * Ends the pause; has no effect if there is none.
   * @throws CroupierError NOT_FOUND
   */
  async resume(actor: Actor, kind: PausedKind, id: string, { reason }: ResumeRequest): Promise<void> {
    await this.audit.change(actor, async (transaction, record) => {
      const before = await this.lockPause(transaction, kind, id);
      if (!before) return;
      await this.pauses.remove(transaction, kind, id);
      await record({
        action: `${nounOf(kind)}.resume`,
        target: auditTargetOf({ kind, id }),
        before: { pause: answerOf(PauseResponse, before) },
        after: { pause: null, ...(reason != null && { reason }) },
      });
    });
    await this.tenancy.reload();
  }

  /**
   * One page of the pauses that are in force, ordered by kind and id.
   * @throws CroupierError INVALID_REQUEST
   */
  async list(query: PageQuery): Promise<PageOf<PauseItem>> {
    const page = await pageById(
      query,
      ({ after, limit }) => this.pauses.page(placeIn(after), limit),
      ({ kind, id }) => `${kind}/${id}`,
      (text) => placeIn(text) !== undefined,
    );
    return { ...page, items: page.items.map((row) => present<PauseItem>(row)) };
  }

  async withPause<T extends object>(kind: PausedKind, id: string, item: T): Promise<WithPause<T>> {
    const [shown] = await this.withPauses(kind, [item], () => id);
    return shown!;
  }

  async withPauses<T extends object>(
    kind: PausedKind,
    items: readonly T[],
    idOf: (item: T) => string,
  ): Promise<WithPause<T>[]> {
    const pauses = await this.pauses.ofTargets(kind, items.map(idOf));
    const now = this.databaseClock.now();
    const inForce = new Map(
      pauses
        .filter((pause) => isInForce(pause, now))
        .map((pause) => [pause.id, answerOf(PauseResponse, pause)]),
    );
    return items.map((item) => ({ ...item, pause: inForce.get(idOf(item)) ?? null }));
  }

  /** @throws CroupierError NOT_FOUND */
  private async lockPause(transaction: Transaction, kind: PausedKind, id: string): Promise<Pause | null> {
    const found = isIdentifier(id) && (await this.pauses.lockTarget(transaction.query, kind, id));
    if (!found) throw new CroupierError('NOT_FOUND', `no such ${nounOf(kind)}`);
    const pause = await this.pauses.find(transaction, kind, id);
    return pause && isInForce(pause, this.databaseClock.now()) ? pause : null;
  }
}

/** The kind and id in a cursor; undefined if it has none. */
function placeIn(cursor: string): Pick<Pause, 'kind' | 'id'> | undefined {
  const kind = PAUSED_KINDS.find((one) => cursor.startsWith(`${one}/`));
  const id = kind && cursor.slice(kind.length + 1);
  return kind && isIdentifier(id) ? { kind, id } : undefined;
}
