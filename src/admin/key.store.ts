import { Injectable } from '@nestjs/common';
import { Database, type Query } from '../database/database.js';
import type { Role } from './role.js';

/** An administrator's key, without the key. */
export interface AdminKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Date;
  /** Up to a minute old; null: never used. */
  readonly lastUsedAt: Date | null;
}

const COLUMNS = `id, name, role, created_at AS "createdAt", last_used_at AS "lastUsedAt"`;

/** Whether a use is to be noted, by the database's clock: it is written at most once in so many seconds. */
const useIsDue = (everySeconds: string) =>
  `(last_used_at IS NULL OR last_used_at < statement_timestamp() - make_interval(secs => ${everySeconds}))`;

const INSERT = {
  name: 'admin_key_insert',
  text: `
    INSERT INTO admin_keys (id, name, role, key_hash, created_at) VALUES ($1, $2, $3, $4, statement_timestamp())
    RETURNING created_at AS "createdAt"`,
};

const LIVE_BY_HASH = {
  name: 'admin_key_live_by_hash',
  text: `
    SELECT ${COLUMNS}, ${useIsDue('$2')} AS "useIsDue"
      FROM admin_keys WHERE key_hash = $1 AND revoked_at IS NULL`,
};

const PAGE = {
  name: 'admin_key_page',
  text: `
    SELECT ${COLUMNS} FROM admin_keys
     WHERE revoked_at IS NULL
       AND ($1::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM admin_keys WHERE id = $1))
     ORDER BY created_at DESC, id DESC LIMIT $2`,
};

const REVOKE = {
  name: 'admin_key_revoke',
  text: `UPDATE admin_keys SET revoked_at = statement_timestamp() WHERE id = $1 AND revoked_at IS NULL RETURNING ${COLUMNS}`,
};

/** The condition keeps instances that see the same use from writing it one after the other. */
const USED = {
  name: 'admin_key_used',
  text: `
    UPDATE admin_keys SET last_used_at = statement_timestamp() WHERE id = $1 AND ${useIsDue('$2')}`,
};

/** Each statement over administrators' keys, of which only the SHA-256 is stored. */
@Injectable()
export class KeyStore {
  constructor(private readonly database: Database) {}

  /** @returns when the key was created */
  async insert(query: Query, key: Pick<AdminKey, 'id' | 'name' | 'role'>, hash: Buffer): Promise<Date> {
    const [row] = await query<{ createdAt: Date }>(INSERT, [key.id, key.name, key.role, hash]);
    return row!.createdAt;
  }

  /** @param everySeconds how often a use is noted: `useIsDue` says whether this one is to be */
  async liveByHash(
    hash: Buffer,
    everySeconds: number,
  ): Promise<(AdminKey & { readonly useIsDue: boolean }) | undefined> {
    const values = [hash, everySeconds];
    return (await this.database.query<AdminKey & { useIsDue: boolean }>(LIVE_BY_HASH, values))[0];
  }

  /** Newest first. @param after the id that the page before ended with, of a key that may be revoked by now */
  page(after: string | undefined, limit: number): Promise<AdminKey[]> {
    return this.database.query<AdminKey>(PAGE, [after, limit]);
  }

  /** @returns undefined where there is no such live key */
  async revoke(query: Query, id: string): Promise<AdminKey | undefined> {
    return (await query<AdminKey>(REVOKE, [id]))[0];
  }

  /** Notes a use, unless one within the last `everySeconds` is noted. */
  async used(id: string, everySeconds: number): Promise<void> {
    await this.database.query(USED, [id, everySeconds]);
  }
}
