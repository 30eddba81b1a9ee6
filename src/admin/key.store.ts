import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { databaseTime } from '../database/columns.js';
import { Database, type Transaction } from '../database/database.js';
import { named } from '../database/statement.js';
import { AdminKey } from './key.entity.js';
import type { Role } from './role.js';

/** A key that is neither revoked nor expired, with the fields that the guard needs. */
export interface LiveKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly expiresAt: Date | null;
  /** Whether this use must be recorded, because the last recorded one is too old or missing. */
  readonly useIsDue: boolean;
}

/** The condition for recording a use: by the database's clock, no use was recorded within the interval. */
const USE_IS_DUE =
  '(last_used_at IS NULL OR last_used_at < statement_timestamp() - make_interval(secs => :everySeconds))';

/** Runs for every request with an administrator's key. The database's clock decides, so that instances agree. */
const LIVE_BY_HASH = named(
  'admin_key_live_by_hash',
  `SELECT id, name, role, expires_at AS "expiresAt", ${USE_IS_DUE} AS "useIsDue"
     FROM admin_keys WHERE key_hash = :hash AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > statement_timestamp())`,
);

/** Checks `USE_IS_DUE` again, so that only one of several concurrent requests records its use. */
const USED = named(
  'admin_key_used',
  `UPDATE admin_keys SET last_used_at = statement_timestamp() WHERE id = :id AND ${USE_IS_DUE}`,
);

const IS_MADE_BY = named(
  'admin_key_is_made_by',
  `WITH RECURSIVE makers AS (
     SELECT created_by FROM admin_keys WHERE id = :id
      UNION
     SELECT k.created_by FROM makers m JOIN admin_keys k ON m.created_by = 'key:' || k.id
   )
   SELECT FROM makers WHERE created_by = :maker`,
);

/** Selects the keys that follow the last key of the previous page, even if that key has been revoked since. */
const BEFORE = '(key.createdAt, key.id) < (SELECT created_at, id FROM admin_keys WHERE id = :after)';

@Injectable()
export class KeyStore {
  constructor(
    private readonly database: Database,
    @InjectRepository(AdminKey) private readonly keys: Repository<AdminKey>,
  ) {}

  async insert(
    { manager }: Transaction,
    key: Pick<AdminKey, 'id' | 'name' | 'role' | 'keyHash' | 'createdBy' | 'expiresAt'>,
  ): Promise<AdminKey> {
    await manager.insert(AdminKey, { ...key, createdAt: databaseTime });
    return manager.findOneByOrFail(AdminKey, { id: key.id });
  }

  async liveByHash(hash: Buffer, everySeconds: number): Promise<LiveKey | undefined> {
    return (await this.database.query<LiveKey>(LIVE_BY_HASH, { hash, everySeconds }))[0];
  }

  /**
   * The keys that are not revoked, expired ones included, newest first.
   * @param after the last id of the previous page
   */
  page(after: string | undefined, limit: number): Promise<AdminKey[]> {
    const page = this.keys.createQueryBuilder('key').where({ revokedAt: IsNull() });
    if (after !== undefined) page.andWhere(BEFORE, { after });
    return page.orderBy({ 'key.createdAt': 'DESC', 'key.id': 'DESC' }).limit(limit).getMany();
  }

  /** @returns the key as it was; undefined if it does not exist or was revoked before */
  async revoke({ manager }: Transaction, id: string): Promise<AdminKey | undefined> {
    const where = { id, revokedAt: IsNull() };
    const key = await manager.findOne(AdminKey, { where, lock: { mode: 'pessimistic_write' } });
    if (!key) return undefined;
    await manager.update(AdminKey, { id }, { revokedAt: databaseTime });
    return key;
  }

  /** Whether `maker` created the key, directly or through other keys. */
  async isMadeBy(id: string, maker: string): Promise<boolean> {
    return (await this.database.query(IS_MADE_BY, { id, maker })).length > 0;
  }

  async used(id: string, everySeconds: number): Promise<void> {
    await this.database.query(USED, { id, everySeconds });
  }
}
