import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
import { CroupierError } from '../errors/croupier-error.js';
import { sha256 } from '../runtime/digest.js';
import { Randomness } from '../runtime/randomness.js';
import type { Batch } from './batch.entity.js';
import { BatchRunner } from './batch.runner.js';
import { FreeSpinsService, type Scope } from './free-spins.service.js';
import type { Grant } from './grant.entity.js';
import { GrantStore, type NewGrant } from './grant.store.js';

/** The same grant for many players. Contract, section 6. */
export interface BatchOrder extends Omit<NewGrant, 'requestRef' | 'providerId' | 'playerRef'> {
  /** 1 to 1000 unique ones. */
  readonly playerRefs: readonly string[];
  readonly batchRef?: string | null;
}

/** Records and reads batches; `BatchRunner` sends them. */
@Injectable()
export class BatchesService {
  constructor(
    private readonly randomness: Randomness,
    private readonly freeSpins: FreeSpinsService,
    private readonly grants: GrantStore,
    private readonly runner: BatchRunner,
    private readonly audit: Audit,
  ) {}

  /**
   * Records a batch, to be sent player by player; a known batchRef returns the stored batch.
   * @throws CroupierError INVALID_REQUEST · CONFLICT · GAME_NOT_CONFIGURED · OPERATOR_NOT_CONFIGURED
   */
  async create(
    actor: Actor,
    order: BatchOrder,
    scope: Scope,
  ): Promise<{ batchId: string; replayed: boolean }> {
    const { operatorId, gameId, spins, betAmountMinor, currency, playerRefs, batchRef } = order;
    const fingerprint = fingerprintOf(order);
    const known = batchRef == null ? null : await this.grants.batchByRef(batchRef);
    if (known) return { batchId: idOfSame(known, fingerprint), replayed: true };
    const { providerId } = this.freeSpins.gameFor(order, scope);
    const batchId = this.randomness.uuid();
    const batch = {
      batchId,
      batchRef: batchRef ?? null,
      fingerprint,
      operatorId,
      providerId,
      gameId,
      spins,
      betAmountMinor,
      currency,
      players: playerRefs.map((playerRef) => ({ requestRef: this.randomness.uuid(), playerRef })),
    };
    const recorded = await this.audit.change(actor, async ({ query }, record) => {
      if (!(await this.grants.recordBatch(query, batch))) return false;
      await record({ action: 'free-spins.batch', target: `batch:${batchId}`, after: order });
      return true;
    });
    if (!recorded) {
      const stored = await this.grants.batchByRef(batchRef ?? '');
      if (!stored) throw new Error('a batch was neither recorded nor found');
      return { batchId: idOfSame(stored, fingerprint), replayed: true };
    }
    this.runner.wake();
    return { batchId, replayed: false };
  }

  /** The grants of a batch, in the order of its players. @throws CroupierError NOT_FOUND */
  async find(batchId: string, scope: Scope): Promise<Grant[]> {
    await this.freeSpins.expire();
    const grants = await this.grants.batch(batchId, scope === 'everybody' ? undefined : scope.operatorId);
    if (!grants) throw new CroupierError('NOT_FOUND', 'no such batch');
    return grants;
  }
}

/** The order of the players does not matter. */
function fingerprintOf(order: BatchOrder): Buffer {
  const { operatorId, gameId, spins, betAmountMinor, currency, playerRefs } = order;
  return sha256(
    JSON.stringify([operatorId, gameId, spins, betAmountMinor, currency, [...playerRefs].sort()]),
  );
}

/** @throws CroupierError CONFLICT if the stored batch differs from the request */
function idOfSame(stored: Batch, fingerprint: Buffer): string {
  if (stored.fingerprint.equals(fingerprint)) return stored.batchId;
  throw new CroupierError('CONFLICT', 'this batchRef was already used with another request');
}
