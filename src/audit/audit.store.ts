import { Injectable } from '@nestjs/common';
import { Database, type Query } from '../database/database.js';
import type { Actor } from './actor.js';
import type { Deed, Entry, Witness } from './entry.js';

/** Which entries are asked for; what is absent restricts nothing. */
export interface Filter {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  /** from ≤ createdAt < to. */
  readonly from?: Date;
  readonly to?: Date;
}

/** What identifies an entry in a list: day and position. */
export interface Place {
  readonly day: string;
  readonly position: number;
}

const COLUMNS = `
  day::text, position, created_at AS "createdAt", actor, role, action, target, before::text, after::text,
  address, request_id AS "requestId", encode(previous_hash, 'hex') AS "previousHash", encode(hash, 'hex') AS hash`;

/** The trigger fills in the rest: migration 0003. */
const APPEND = {
  name: 'audit_append',
  text: `
    INSERT INTO audit_entries (actor, role, action, target, before, after, address, request_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    RETURNING day::text, position, encode(hash, 'hex') AS hash`,
};

const PAGE = {
  name: 'audit_page',
  text: `
    SELECT ${COLUMNS} FROM audit_entries
     WHERE ($1::text IS NULL OR actor = $1) AND ($2::text IS NULL OR action = $2)
       AND ($3::text IS NULL OR target = $3)
       AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)
       AND ($6::date IS NULL OR (day, position) < ($6, $7))
     ORDER BY day DESC, position DESC LIMIT $8`,
};

const FOLLOWING = {
  name: 'audit_following',
  text: `
    SELECT ${COLUMNS} FROM audit_entries
     WHERE $1::date IS NULL OR (day, position) > ($1, $2)
     ORDER BY day, position LIMIT $3`,
};

/** Each statement over the audit log. None of them changes an entry: the database refuses that. */
@Injectable()
export class AuditStore {
  constructor(private readonly database: Database) {}

  /** @param query the transaction that must not commit without this entry */
  async append(query: Query, actor: Actor, deed: Deed, requestId: string | undefined): Promise<Witness> {
    const [witness] = await query<Witness>(APPEND, [
      actor.actor,
      actor.role,
      deed.action,
      deed.target,
      deed.before && JSON.stringify(deed.before),
      deed.after && JSON.stringify(deed.after),
      actor.address,
      requestId,
    ]);
    return witness!;
  }

  /** Newest first. @param before undefined: from the newest on */
  page(filter: Filter, before: Place | undefined, limit: number): Promise<Entry[]> {
    const { actor, action, target, from, to } = filter;
    return this.database.query<Entry>(PAGE, [
      ...[actor, action, target, from, to],
      ...[before?.day, before?.position, limit],
    ]);
  }

  /** Oldest first. @param after undefined: from the first on */
  following(after: Place | undefined, limit: number): Promise<Entry[]> {
    return this.database.query<Entry>(FOLLOWING, [after?.day, after?.position, limit]);
  }
}
