import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Database, type Query } from '../database/database.js';
import type { Place } from '../database/place.js';
import { named } from '../database/statement.js';
import { type TimeOrderedTable, timeOrderedPage } from '../database/time-ordered.js';
import { Randomness } from '../runtime/randomness.js';
import type { Outcome } from './comparison.js';
import type { FindingItem } from './finding.js';
import type { Range } from './reconciliation.store.js';
import type { RecordedFindings, StoredReconciliation } from './reconciliation.response.js';

/** Number of reconciliations that are kept for each operator: of a daily one, those of more than three months. */
const KEPT = 100;
/** Maximum number of findings that one statement inserts. */
const BATCH = 500;

/** `t` is the table's alias. */
const COLUMNS = `
  t.reconciliation_id AS "reconciliationId", t.operator_id AS "operatorId", t.range_from AS "from", t.range_to AS "to",
  t.lines, t.matched, t.findings, t.findings_stored AS "findingsStored", t.sums, t.recorded,
  t.created_at AS "createdAt", t.created_by AS "by", t.created_by_name AS "byName"`;

const TABLE: TimeOrderedTable = {
  columns: COLUMNS,
  from: 'reconciliations',
  id: 'reconciliation_id',
  idType: 'uuid',
};

const LOCK = named(
  'reconciliation_lock',
  `SELECT pg_advisory_xact_lock(hashtextextended('reconciliation/' || :operatorId, 0))`,
);

/** Waits until no other reconciliation of the operator is being stored or recorded, over all instances and commands. */
export async function lockReconciliations(query: Query, operatorId: string): Promise<void> {
  await query(LOCK, { operatorId });
}

const INSERT = named(
  'reconciliation_store',
  `
  INSERT INTO reconciliations AS t (reconciliation_id, operator_id, range_from, range_to, lines, matched, findings,
                                    findings_stored, sums, recorded, created_at, created_by, created_by_name)
  VALUES (:id, :operatorId, :from, :to, :lines, :matched, :findings, :findingsStored, :sums, :recorded,
          clock_timestamp(), :by, :byName)
  RETURNING ${COLUMNS}`,
);

const INSERT_FINDINGS = named(
  'reconciliation_store_findings',
  `
  INSERT INTO reconciliation_findings (reconciliation_id, position, finding)
  SELECT :id, :after + ordinality, finding
    FROM jsonb_array_elements(:findings::jsonb) WITH ORDINALITY AS f (finding, ordinality)`,
);

/** Deletes the oldest reconciliations of an operator, with their findings. */
const DELETE_OLD = named(
  'reconciliation_delete_old',
  `
  DELETE FROM reconciliations WHERE reconciliation_id IN (
    SELECT reconciliation_id FROM reconciliations WHERE operator_id = :operatorId
     ORDER BY created_at DESC, reconciliation_id DESC OFFSET :kept)`,
);

const FIND = named(
  'reconciliation_find',
  `SELECT ${COLUMNS} FROM reconciliations t WHERE t.reconciliation_id = :id`,
);

const FINDINGS_OF = named(
  'reconciliation_findings',
  `
  SELECT position, finding FROM reconciliation_findings
   WHERE reconciliation_id = :id AND position > :after ORDER BY position LIMIT :limit`,
);

/** A stored finding and its place in the report, from 1. */
interface StoredFinding {
  readonly position: number;
  readonly finding: FindingItem;
}

/** Stores the reports of reconciliations with their findings, and reads them. */
@Injectable()
export class StoredReconciliations {
  constructor(
    private readonly database: Database,
    private readonly randomness: Randomness,
  ) {}

  /** Stores a reconciliation, and deletes the oldest ones of its operator. */
  async insert(
    query: Query,
    { actor: by, name: byName }: Actor,
    range: Range,
    { lines, matched, findings, sums }: Outcome,
    items: readonly FindingItem[],
    recorded: RecordedFindings | undefined,
  ): Promise<StoredReconciliation> {
    const id = this.randomness.uuid();
    const [stored] = await query<StoredReconciliation>(INSERT, {
      ...range,
      id,
      lines,
      matched,
      findings: JSON.stringify(findings),
      findingsStored: items.length,
      sums: JSON.stringify(sums, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      recorded: recorded && JSON.stringify(recorded),
      by,
      byName,
    });
    for (let after = 0; after < items.length; after += BATCH) {
      const batch = JSON.stringify(items.slice(after, after + BATCH));
      await query(INSERT_FINDINGS, { id, after, findings: batch });
    }
    await query(DELETE_OLD, { operatorId: range.operatorId, kept: KEPT });
    return stored!;
  }

  /** Newest first. */
  page(
    { operatorId, from, to }: { operatorId?: string; from?: string; to?: string },
    before: Place | undefined,
    limit: number,
  ): Promise<(StoredReconciliation & { place: string })[]> {
    const { statement, values } = timeOrderedPage(
      TABLE,
      { operator_id: operatorId },
      { from, to, before },
      limit,
    );
    return this.database.query(statement, values);
  }

  async find(id: string): Promise<StoredReconciliation | undefined> {
    return (await this.database.query<StoredReconciliation>(FIND, { id }))[0];
  }

  /** In the order of the report. */
  findings(id: string, after: number, limit: number): Promise<StoredFinding[]> {
    return this.database.query(FINDINGS_OF, { id, after, limit });
  }
}
