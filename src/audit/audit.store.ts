import { Injectable } from '@nestjs/common';
import { Database, type Query } from '../database/database.js';
import type { Actor } from './actor.js';
import type { NewEntry, Entry, Seal, SealedEntry, TargetEntry, Witness } from './entry.js';

/** A filter of entries; an absent field matches every entry. */
export interface Filter {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  /** `done` or an error code. */
  readonly outcome?: string;
  readonly requestId?: string;
  /** from ≤ createdAt < to. */
  readonly from?: Date;
  readonly to?: Date;
}

/** The place of an entry in the log: day and position. */
export interface EntryPlace {
  readonly day: string;
  readonly position: number;
}

/** An appended entry, with the data for its seal. */
export interface AppendedEntry extends Witness {
  /** The number of the newest seal; 0 if there is none. */
  readonly lastSeal: number;
}

/** Summary of the entries before a day. */
export interface EntriesBefore {
  readonly entries: number;
  /** Whether the given head is the last of these entries. */
  readonly endsWithHead: boolean;
}

export interface LostHead extends EntryPlace {
  /** True if the log has no entry at this place; false if its entry there has another hash. */
  readonly missing: boolean;
}

/** ORDER BY must use `audit_entries.day`: plain `day` is the text column of this list, which has no index. */
const COLUMNS = `
  day::text, position, created_at AS "createdAt", actor, role, action, target, before::text, after::text,
  address, request_id AS "requestId", actor_name AS "actorName", outcome, encode(previous_hash, 'hex') AS "previousHash", encode(hash, 'hex') AS hash`;

/** A trigger fills in the other columns: migrations 0003 and 0011. */
const APPEND = {
  name: 'audit_append',
  text: `
    INSERT INTO audit_entries (actor, role, action, target, before, after, address, request_id, actor_name, outcome)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    RETURNING day::text, position, encode(hash, 'hex') AS hash, audit_last_seal() AS "lastSeal"`,
};

const INSERT_SEAL = {
  name: 'audit_insert_seal',
  text: `
    INSERT INTO audit_seals (number, day, position, key_id, mac) VALUES ($1, $2, $3, $4, decode($5, 'hex'))`,
};

/** The advisory lock that the triggers of `audit_entries` take to serialise appends. */
const LOCK = { name: 'audit_lock', text: 'SELECT pg_advisory_xact_lock(7300003)' };

const UNSEALED_HEAD = {
  name: 'audit_unsealed_head',
  text: `
    SELECT e.day::text, e.position, encode(e.hash, 'hex') AS hash, audit_last_seal() AS "lastSeal"
      FROM (SELECT * FROM audit_entries ORDER BY day DESC, position DESC LIMIT 1) e
     WHERE NOT EXISTS (SELECT FROM audit_seals s WHERE s.day = e.day AND s.position = e.position)`,
};

const HEAD = {
  name: 'audit_head',
  text: `
    SELECT day::text, position, encode(hash, 'hex') AS hash
      FROM audit_entries ORDER BY audit_entries.day DESC, position DESC LIMIT 1`,
};

const NEWEST_SEAL = {
  name: 'audit_newest_seal',
  text: `
    SELECT number, day::text, position, key_id AS "keyId", encode(mac, 'hex') AS mac
      FROM audit_seals ORDER BY number DESC LIMIT 1`,
};

/**
 * An entry's `day` is the UTC date of its `createdAt`, so the primary key also serves `from` and `to`. The statement
 * has no name, because its plan depends on which parameters are null.
 */
const PAGE = {
  name: '',
  text: `
    SELECT ${COLUMNS} FROM audit_entries
     WHERE ($1::text IS NULL OR actor = $1) AND ($2::text IS NULL OR action = $2)
       AND ($3::text IS NULL OR target = $3)
       AND ($4::text IS NULL OR outcome = $4) AND ($5::text IS NULL OR request_id = $5)
       AND ($6::timestamptz IS NULL OR created_at >= $6 AND audit_entries.day >= ($6 AT TIME ZONE 'UTC')::date)
       AND ($7::timestamptz IS NULL OR created_at < $7 AND audit_entries.day <= ($7 AT TIME ZONE 'UTC')::date)
       AND ($8::date IS NULL OR (day, position) < ($8, $9))
     ORDER BY audit_entries.day DESC, position DESC LIMIT $10`,
};

/** A subquery for each row, because PostgreSQL would read all seals for each page if they were joined. */
const SEAL = `
  (SELECT json_build_object('number', number, 'day', s.day, 'position', s.position, 'keyId', key_id,
                            'mac', encode(mac, 'hex'))
     FROM audit_seals s WHERE s.day = audit_entries.day AND s.position = audit_entries.position) AS seal`;

const FOLLOWING = {
  name: 'audit_following',
  text: `
    SELECT ${COLUMNS}, ${SEAL}
      FROM audit_entries
     WHERE (audit_entries.day, position) > (coalesce($1::date, '-infinity'), coalesce($2::integer, 0))
     ORDER BY audit_entries.day, position LIMIT $3`,
};

/** The newest entries of an action, each with its own seal if it has one. */
const OF_ACTION = {
  name: 'audit_of_action',
  text: `
    SELECT ${COLUMNS}, ${SEAL}
      FROM audit_entries WHERE action = $1 ORDER BY audit_entries.day DESC, position DESC LIMIT $2`,
};

const SEALS_AT = {
  name: 'audit_seals_at',
  text: `
    SELECT number, s.day::text, s.position, key_id AS "keyId", encode(mac, 'hex') AS mac
      FROM unnest($1::date[], $2::integer[]) AS place (day, position)
      JOIN audit_seals s ON s.day = place.day AND s.position = place.position`,
};

const COUNT_SEALS = {
  name: 'audit_count_seals',
  text: 'SELECT count(*) FROM audit_seals WHERE number <= $1',
};

/** Migration 0011 defines the function. */
const NEXT_DAY = { name: 'audit_next_day', text: 'SELECT audit_next_day()::text AS day' };

const OLDEST_PARTITION = {
  name: 'audit_oldest_partition',
  text: `
    SELECT c.relname AS name
      FROM (SELECT tableoid FROM audit_entries ORDER BY audit_entries.day, position LIMIT 1) first
      JOIN pg_class c ON c.oid = first.tableoid`,
};

const ENTRIES_BEFORE = {
  name: 'audit_entries_before',
  text: `
    SELECT count(*) AS entries,
           coalesce(bool_or((day, position) = ($2, $3) AND hash = decode($4, 'hex')), false)
             AND bool_and((day, position) <= ($2, $3)) AS "endsWithHead"
      FROM audit_entries WHERE day < $1`,
};

const LOST_HEAD = {
  name: 'audit_lost_head',
  text: `
    SELECT h.day::text, h.position, e.hash IS NULL AS missing
      FROM unnest($1::date[], $2::integer[], $3::text[]) AS h (day, position, hash)
      LEFT JOIN audit_entries e ON e.day = h.day AND e.position = h.position
     WHERE e.hash IS DISTINCT FROM decode(h.hash, 'hex')
     ORDER BY h.day, h.position LIMIT 1`,
};

/**
 * For each target, the newest entry whose `after` has the field. Only entries with a seal of a known key count, because
 * anyone who can write to the database can append others. LIKE does not match inside a JSON string, because quotes are
 * escaped there.
 */
const NEWEST_WITH = {
  name: 'audit_newest_with',
  text: `
    SELECT t.target, e.day::text, e.position, e.after, e.key_id AS "keyId"
      FROM unnest($1::text[]) AS t (target)
     CROSS JOIN LATERAL (
       SELECT e.*, s.key_id
         FROM audit_entries e
         JOIN audit_seals s ON s.day = e.day AND s.position = e.position AND s.key_id = ANY ($3::text[])
        WHERE e.target = t.target AND e.after::text LIKE '%"' || $2 || '":%'
        ORDER BY e.day DESC, e.position DESC LIMIT 1) e`,
};

/** Reads and appends entries and seals. The database refuses to change or delete them. */
@Injectable()
export class AuditStore {
  constructor(private readonly database: Database) {}

  /** @param query runs in the transaction that must not commit without this entry */
  async append(
    query: Query,
    actor: Actor,
    entry: NewEntry,
    requestId: string | undefined,
  ): Promise<AppendedEntry> {
    const [appended] = await query<AppendedEntry>(APPEND, [
      actor.actor,
      actor.role,
      entry.action,
      entry.target,
      entry.before && JSON.stringify(entry.before),
      entry.after && JSON.stringify(entry.after),
      actor.address,
      requestId,
      actor.name,
      entry.outcome ?? 'done',
    ]);
    return appended!;
  }

  /** @param query runs in the transaction that appended the entry or holds the lock */
  async insertSeal(query: Query, { number, day, position, keyId, mac }: Seal): Promise<void> {
    await query(INSERT_SEAL, [number, day, position, keyId, mac]);
  }

  /** The newest entry if it has no seal. Locks the log: other appends wait until the transaction ends. */
  async lockedUnsealedHead(query: Query): Promise<AppendedEntry | undefined> {
    await query(LOCK, []);
    return (await query<AppendedEntry>(UNSEALED_HEAD, []))[0];
  }

  /** The newest entry. */
  async head(): Promise<Witness | undefined> {
    return (await this.database.query<Witness>(HEAD, []))[0];
  }

  async newestSeal(query: Query = this.database.query): Promise<Seal | undefined> {
    return (await query<Seal>(NEWEST_SEAL, []))[0];
  }

  /** The oldest of these heads that the log does not contain. */
  async lostHead(heads: readonly Witness[]): Promise<LostHead | undefined> {
    const days = heads.map(({ day }) => day);
    const positions = heads.map(({ position }) => position);
    const hashes = heads.map(({ hash }) => hash);
    return (await this.database.query<LostHead>(LOST_HEAD, [days, positions, hashes]))[0];
  }

  /**
   * @param field letters only, because it becomes part of a LIKE pattern
   * @param keyIds the keys whose seals count; that these seals are valid is not verified here
   */
  newestWith(
    query: Query,
    targets: readonly string[],
    field: string,
    keyIds: readonly string[],
  ): Promise<TargetEntry[]> {
    return query<TargetEntry>(NEWEST_WITH, [targets, field, keyIds]);
  }

  /**
   * Returns the entries that match the filter, newest first.
   * @param before only earlier entries are returned; undefined to start at the newest entry
   */
  page(filter: Filter, before: EntryPlace | undefined, limit: number): Promise<Entry[]> {
    const { actor, action, target, outcome, requestId, from, to } = filter;
    return this.database.query<Entry>(PAGE, [
      actor,
      action,
      target,
      outcome,
      requestId,
      from,
      to,
      before?.day,
      before?.position,
      limit,
    ]);
  }

  /**
   * Returns the entries after a place, oldest first.
   * @param after undefined to start at the first entry
   */
  following(after: EntryPlace | undefined, limit: number): Promise<SealedEntry[]> {
    return this.database.query<SealedEntry>(FOLLOWING, [after?.day, after?.position, limit]);
  }

  /** The earliest day that the next entry can have, `YYYY-MM-DD`. */
  async nextDay(): Promise<string> {
    const [row] = await this.database.query<{ day: string }>(NEXT_DAY, []);
    return row!.day;
  }

  /** The name of the oldest partition that has entries. */
  async oldestPartition(): Promise<string | undefined> {
    return (await this.database.query<{ name: string }>(OLDEST_PARTITION, []))[0]?.name;
  }

  async entriesBefore(end: string, { day, position, hash }: Witness): Promise<EntriesBefore> {
    return (await this.database.query<EntriesBefore>(ENTRIES_BEFORE, [end, day, position, hash]))[0]!;
  }

  /**
   * Returns the entries with this action, newest first.
   * @param limit 1 or more
   */
  ofAction(action: string, limit: number): Promise<SealedEntry[]> {
    return this.database.query<SealedEntry>(OF_ACTION, [action, limit]);
  }

  /** The seals of these entries; an entry without one is left out. */
  sealsAt(places: readonly EntryPlace[]): Promise<Seal[]> {
    const days = places.map(({ day }) => day);
    return this.database.query<Seal>(SEALS_AT, [days, places.map(({ position }) => position)]);
  }

  /** How many seals have this number or a lower one. */
  async countSeals(number: number): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(COUNT_SEALS, [number]);
    return row!.count;
  }
}
