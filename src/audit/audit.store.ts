import { Injectable } from '@nestjs/common';
import { Database, type Query } from '../database/database.js';
import { leading } from '../database/planner.js';
import { named } from '../database/statement.js';
import type { Actor } from './actor.js';
import type { Entry, EntryPlace, NewEntry, Seal, SealedEntry, TargetEntry, Witness } from './entry.js';

/** An absent field matches every entry. */
export interface Filter {
  readonly actor?: string;
  readonly actions?: readonly string[];
  readonly target?: string;
  /** `done` or an error code. */
  readonly outcome?: string;
  readonly requestId?: string;
  /** from ≤ createdAt < to. */
  readonly from?: Date;
  readonly to?: Date;
}

/** Number of entries, or of their heads, that one query reads. */
const PAGE_SIZE = 1_000;

/** An appended entry, with the data for its seal. */
export interface AppendedEntry extends Witness {
  /** The number of the newest seal; 0 if there is none. */
  readonly lastSeal: number;
}

/** ORDER BY must use `audit_entries.day`: plain `day` is the text column of this list, which has no index. */
const COLUMNS = `
  day::text, position, created_at AS "createdAt", actor, role, action, target, before::text, after::text,
  address, request_id AS "requestId", actor_name AS "actorName", outcome, encode(previous_hash, 'hex') AS "previousHash", encode(hash, 'hex') AS hash`;

/** A trigger fills in the other columns: migrations 0003 and 0011. */
const APPEND = named(
  'audit_append',
  `INSERT INTO audit_entries (actor, role, action, target, before, after, address, request_id, actor_name, outcome)
   VALUES (:actor, :role, :action, :target, :before, :after, :address, :requestId, :actorName, :outcome)
   RETURNING day::text, position, encode(hash, 'hex') AS hash, audit_last_seal() AS "lastSeal"`,
);

const INSERT_SEAL = named(
  'audit_insert_seal',
  `INSERT INTO audit_seals (number, day, position, key_id, mac)
   VALUES (:number, :day, :position, :keyId, decode(:mac, 'hex'))`,
);

/** The advisory lock that the triggers of `audit_entries` take to serialise appends. */
const LOCK = named('audit_lock', 'SELECT pg_advisory_xact_lock(7300003)');

const UNSEALED_HEAD = named(
  'audit_unsealed_head',
  `SELECT e.day::text, e.position, encode(e.hash, 'hex') AS hash, audit_last_seal() AS "lastSeal"
     FROM (SELECT * FROM audit_entries ORDER BY day DESC, position DESC LIMIT 1) e
    WHERE NOT EXISTS (SELECT FROM audit_seals s WHERE s.day = e.day AND s.position = e.position)`,
);

const HEAD = named(
  'audit_head',
  `SELECT day::text, position, encode(hash, 'hex') AS hash
     FROM audit_entries ORDER BY audit_entries.day DESC, position DESC LIMIT 1`,
);

const NEWEST_SEAL = named(
  'audit_newest_seal',
  `SELECT number, day::text, position, key_id AS "keyId", encode(mac, 'hex') AS mac
     FROM audit_seals ORDER BY number DESC LIMIT 1`,
);

/** An entry's `day` is the UTC date of its `createdAt`, so the primary key also serves `from` and `to`. */
const MATCHES = `
      (:actor::text IS NULL OR actor = :actor) AND (:target::text IS NULL OR target = :target)
      AND (:outcome::text IS NULL OR outcome = :outcome) AND (:requestId::text IS NULL OR request_id = :requestId)
      AND (:from::timestamptz IS NULL OR created_at >= :from AND audit_entries.day >= (:from AT TIME ZONE 'UTC')::date)
      AND (:to::timestamptz IS NULL OR created_at < :to AND audit_entries.day <= (:to AT TIME ZONE 'UTC')::date)
      AND (:day::date IS NULL OR (audit_entries.day, position) < (:day, :position))`;

/** Has no name, because its plan depends on which parameters are null; so does the plan of the next statement. */
const PAGE = named(
  '',
  `SELECT ${COLUMNS} FROM audit_entries WHERE ${MATCHES}
    ORDER BY audit_entries.day DESC, position DESC LIMIT :limit`,
);

/**
 * Reads the newest entries of each action by the index and merges them, so that the rows that it reads are bounded
 * however many entries the actions have. A range of the index would not be in the order of the list. With an actor, the
 * order begins with it, so that its own index is used.
 */
const pageOfActions = (condition: string, order: string) =>
  named(
    '',
    `SELECT e.* FROM unnest(:actions::text[]) AS one (action)
      CROSS JOIN LATERAL (
        SELECT ${COLUMNS} FROM audit_entries
         WHERE ${condition} AND ${MATCHES}
         ORDER BY ${order} audit_entries.action DESC, audit_entries.day DESC, position DESC LIMIT :limit) e
      ORDER BY e.day DESC, e.position DESC LIMIT :limit`,
  );
const PAGE_OF_ACTIONS = pageOfActions(leading({ 'audit_entries.action': 'one.action' }), '');
const PAGE_OF_ACTOR_AND_ACTIONS = pageOfActions(
  leading({ 'audit_entries.actor': ':actor', 'audit_entries.action': 'one.action' }),
  'audit_entries.actor DESC,',
);

/** A subquery for each row, because PostgreSQL would read all seals for each page if they were joined. */
const SEAL = `
  (SELECT json_build_object('number', number, 'day', s.day, 'position', s.position, 'keyId', key_id,
                            'mac', encode(mac, 'hex'))
     FROM audit_seals s WHERE s.day = audit_entries.day AND s.position = audit_entries.position) AS seal`;

const FOLLOWING = named(
  'audit_following',
  `SELECT ${COLUMNS}, ${SEAL}
     FROM audit_entries
    WHERE (audit_entries.day, position) > (coalesce(:day::date, '-infinity'), coalesce(:position::integer, 0))
    ORDER BY audit_entries.day, position LIMIT :limit`,
);

const OF_ACTION = named(
  'audit_of_action',
  `SELECT ${COLUMNS}, ${SEAL}
     FROM audit_entries WHERE action = :action ORDER BY audit_entries.day DESC, position DESC LIMIT :limit`,
);

const SEALS_AT = named(
  'audit_seals_at',
  `SELECT number, s.day::text, s.position, key_id AS "keyId", encode(mac, 'hex') AS mac
     FROM unnest(:days::date[], :positions::integer[]) AS place (day, position)
     JOIN audit_seals s ON s.day = place.day AND s.position = place.position`,
);

const COUNT_SEALS = named('audit_count_seals', 'SELECT count(*) FROM audit_seals WHERE number <= :number');

/** Migration 0011 defines the function. */
const NEXT_DAY = named('audit_next_day', 'SELECT audit_next_day()::text AS day');

const OLDEST_PARTITION = named(
  'audit_oldest_partition',
  `SELECT c.relname AS name
     FROM (SELECT tableoid FROM audit_entries ORDER BY audit_entries.day, position LIMIT 1) first
     JOIN pg_class c ON c.oid = first.tableoid`,
);

const ENTRIES_BEFORE = named(
  'audit_entries_before',
  `SELECT count(*) AS entries,
          coalesce(bool_or((day, position) = (:day, :position) AND hash = decode(:hash, 'hex')), false)
            AND bool_and((day, position) <= (:day, :position)) AS "endsWithHead"
     FROM audit_entries WHERE day < :end`,
);

const LOST_HEAD = named(
  'audit_lost_head',
  `SELECT h.day::text, h.position, e.hash IS NULL AS missing
     FROM unnest(:days::date[], :positions::integer[], :hashes::text[]) AS h (day, position, hash)
     LEFT JOIN audit_entries e ON e.day = h.day AND e.position = h.position
    WHERE e.hash IS DISTINCT FROM decode(h.hash, 'hex')
    ORDER BY h.day, h.position LIMIT 1`,
);

/**
 * Only entries with a seal of a known key count, because anyone who can write to the database can append others. LIKE
 * does not match inside a JSON string, because quotes are escaped there.
 */
const NEWEST_WITH = named(
  'audit_newest_with',
  `SELECT t.target, e.day::text, e.position, e.after, e.key_id AS "keyId"
     FROM unnest(:targets::text[]) AS t (target)
    CROSS JOIN LATERAL (
      SELECT e.*, s.key_id
        FROM audit_entries e
        JOIN audit_seals s ON s.day = e.day AND s.position = e.position AND s.key_id = ANY (:keyIds::text[])
       WHERE e.target = t.target AND e.after::text LIKE '%"' || :field || '":%'
       ORDER BY e.day DESC, e.position DESC LIMIT 1) e`,
);

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
    const [appended] = await query<AppendedEntry>(APPEND, {
      ...entry,
      before: entry.before && JSON.stringify(entry.before),
      after: entry.after && JSON.stringify(entry.after),
      outcome: entry.outcome ?? 'done',
      actor: actor.actor,
      actorName: actor.name,
      role: actor.role,
      address: actor.address,
      requestId,
    });
    return appended!;
  }

  /** @param query runs in the transaction that appended the entry or holds the lock */
  async insertSeal(query: Query, seal: Seal): Promise<void> {
    await query(INSERT_SEAL, seal);
  }

  /** The newest entry if it has no seal. Locks the log: other appends wait until the transaction ends. */
  async lockedUnsealedHead(query: Query): Promise<AppendedEntry | undefined> {
    await query(LOCK, {});
    return (await query<AppendedEntry>(UNSEALED_HEAD, {}))[0];
  }

  async head(): Promise<Witness | undefined> {
    return (await this.database.query<Witness>(HEAD, {}))[0];
  }

  async newestSeal(query: Query = this.database.query): Promise<Seal | undefined> {
    return (await query<Seal>(NEWEST_SEAL, {}))[0];
  }

  /** The oldest of these heads that the log does not contain; `missing` if it has no entry at this place. */
  async lostHead(
    heads: readonly Witness[],
  ): Promise<(EntryPlace & { readonly missing: boolean }) | undefined> {
    const values = { ...arraysOf(heads), hashes: heads.map(({ hash }) => hash) };
    return (await this.database.query<EntryPlace & { missing: boolean }>(LOST_HEAD, values))[0];
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
    return query<TargetEntry>(NEWEST_WITH, { targets, field, keyIds });
  }

  /** @param before only earlier entries are returned; undefined to start at the newest entry */
  page(filter: Filter, before: EntryPlace | undefined, limit: number): Promise<Entry[]> {
    const { actor, actions, target, outcome, requestId, from, to } = filter;
    const { day, position } = before ?? {};
    const values = { actor, actions, target, outcome, requestId, from, to, day, position, limit };
    const ofActions = actor === undefined ? PAGE_OF_ACTIONS : PAGE_OF_ACTOR_AND_ACTIONS;
    return this.database.query<Entry>(actions ? ofActions : PAGE, values);
  }

  /** @param after undefined to start at the first entry */
  following(after: EntryPlace | undefined, limit: number): Promise<SealedEntry[]> {
    return this.database.query<SealedEntry>(FOLLOWING, { day: after?.day, position: after?.position, limit });
  }

  /**
   * The entries of the log, oldest first, in pages.
   * @param after the entry before the first one; undefined to start at the log's first entry
   * @param end the day before which the entries end; undefined to read to the end of the log
   */
  async *pages(after: EntryPlace | undefined, end?: string): AsyncGenerator<SealedEntry[]> {
    for (let last = after; ;) {
      const page = await this.following(last, PAGE_SIZE);
      const entries = end === undefined ? page : page.filter(({ day }) => day < end);
      if (entries.length > 0) yield entries;
      if (entries.length < PAGE_SIZE) return;
      last = entries.at(-1);
    }
  }

  /** The earliest day that the next entry can have, `YYYY-MM-DD`. */
  async nextDay(): Promise<string> {
    const [row] = await this.database.query<{ day: string }>(NEXT_DAY, {});
    return row!.day;
  }

  async oldestPartition(): Promise<string | undefined> {
    return (await this.database.query<{ name: string }>(OLDEST_PARTITION, {}))[0]?.name;
  }

  async entriesBefore(end: string, head: Witness): Promise<{ entries: number; endsWithHead: boolean }> {
    const values = { ...head, end };
    const [row] = await this.database.query<{ entries: number; endsWithHead: boolean }>(
      ENTRIES_BEFORE,
      values,
    );
    return row!;
  }

  ofAction(action: string, limit: number): Promise<SealedEntry[]> {
    return this.database.query<SealedEntry>(OF_ACTION, { action, limit });
  }

  /** The seals of these entries. An entry without one is left out. */
  sealsAt(places: readonly EntryPlace[]): Promise<Seal[]> {
    return this.database.query<Seal>(SEALS_AT, arraysOf(places));
  }

  async countSeals(number: number): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(COUNT_SEALS, { number });
    return row!.count;
  }
}

function arraysOf(places: readonly EntryPlace[]) {
  return { days: places.map(({ day }) => day), positions: places.map(({ position }) => position) };
}

export async function* pagesOf<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < PAGE_SIZE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
