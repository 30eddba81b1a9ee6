import { Injectable } from '@nestjs/common';
import { invalidCursor } from '../api/lists/invalid-cursor.js';
import type { Actor } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
import { Reads } from '../audit/reads.js';
import { CroupierError } from '../errors/croupier-error.js';
import { DatabaseClock } from '../database/database-clock.js';
import { isUuid } from '../api/validation/identifier.js';
import { futureInstant } from '../api/validation/instant.js';
import { pageById, type PageOf, type PageQuery } from '../api/lists/page.js';
import { sha256 } from '../runtime/digest.js';
import { Randomness } from '../runtime/randomness.js';
import type { CreateKeyRequest } from './key.request.js';
import { type CreatedKeyResponse, keyResponse, type KeyResponse } from './key.response.js';
import { KeyStore } from './key.store.js';

/** Creates, lists and revokes administrators' keys. Contract, section 7. */
@Injectable()
export class KeyAdministration {
  constructor(
    private readonly audit: Audit,
    private readonly reads: Reads,
    private readonly keys: KeyStore,
    private readonly randomness: Randomness,
    private readonly databaseClock: DatabaseClock,
  ) {}

  /**
   * Creates a key of 256 random bits. Only this call returns the key: the database stores its hash.
   * @throws CroupierError INVALID_REQUEST if `expiresAt` is not in the future
   */
  async create(actor: Actor, { name, role, expiresAt }: CreateKeyRequest): Promise<CreatedKeyResponse> {
    const end = expiresAt == null ? null : futureInstant('expiresAt', expiresAt, this.databaseClock.now());
    const key = this.randomness.secret();
    const id = this.randomness.uuid();
    const stored = await this.audit.change(actor, async (transaction, record) => {
      const inserted = await this.keys.insert(transaction, {
        id,
        name,
        role,
        keyHash: sha256(key),
        createdBy: actor.actor,
        expiresAt: end,
      });
      await record({
        action: 'key.create',
        target: `key:${id}`,
        after: { name, role, ...(end && { expiresAt: end }) },
      });
      return inserted;
    });
    return { ...keyResponse(stored), key };
  }

  /** @throws CroupierError INVALID_REQUEST · RATE_LIMITED */
  async list(actor: Actor, query: PageQuery): Promise<PageOf<KeyResponse>> {
    const page = await pageById(
      query,
      ({ after, limit }) => {
        if (after !== '' && !isUuid(after)) throw invalidCursor();
        return this.keys.page(after || undefined, limit);
      },
      ({ id }) => id,
    );
    await this.reads.record(actor, { action: 'key.list', target: 'keys', after: query });
    return { ...page, items: page.items.map(keyResponse) };
  }

  /** @throws CroupierError NOT_FOUND */
  async revoke(actor: Actor, id: string): Promise<void> {
    await this.audit.change(actor, async (transaction, record) => {
      const revoked = await this.keys.revoke(transaction, id);
      if (!revoked) throw new CroupierError('NOT_FOUND', 'no such key');
      const { name, role, lastUsedAt, expiresAt } = revoked;
      await record({
        action: 'key.revoke',
        target: `key:${id}`,
        before: { name, role, lastUsedAt, ...(expiresAt && { expiresAt }) },
      });
    });
  }

  /** Whether `administrator` is a key that `maker` has created, directly or through other keys. */
  async isMadeBy(administrator: string, maker: string): Promise<boolean> {
    const [kind, id] = administrator.split(':');
    return kind === 'key' && id !== undefined && this.keys.isMadeBy(id, maker);
  }
}
