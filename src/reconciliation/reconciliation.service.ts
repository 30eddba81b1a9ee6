import { Injectable } from '@nestjs/common';
import { invalidCursor } from '../api/lists/invalid-cursor.js';
import { type PageOf, pageById, type ListQuery } from '../api/lists/page.js';
import { pageByTime } from '../api/lists/time-page.js';
import { isUuid } from '../api/validation/identifier.js';
import type { Actor } from '../audit/actor.js';
import { Audit, type RecordEntry } from '../audit/audit.service.js';
import { Database, type Transaction } from '../database/database.js';
import { CroupierError } from '../errors/croupier-error.js';
import { overloaded, rateLimited } from '../errors/try-later.js';
import { instantOrDayMs } from '../runtime/instant.js';
import { Lifecycle } from '../runtime/lifecycle.js';
import { Pace } from '../runtime/pace.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { compareStatement, type Outcome } from './comparison.js';
import { ComparisonBounds } from './comparison-bounds.js';
import { CsvError } from './csv.reader.js';
import type { FindingItem } from './finding.js';
import { record } from './record.js';
import { FOUND_SHOWN, RECORDED } from './recorded-findings.js';
import type { ReconciliationQuery, ReconciliationRequest } from './reconciliation.request.js';
import {
  type ReconciliationItem,
  reconciliationItem,
  type ReconciliationResponse,
  type StoredReconciliation,
} from './reconciliation.response.js';
import { QUERY_CANCELED, type Range, ReconciliationStore } from './reconciliation.store.js';
import { lockReconciliations, StoredReconciliations } from './stored-reconciliation.store.js';

/** Largest part of the statement that is parsed without a rest, in bytes: about eighty lines, in about a millisecond. */
const BATCH_BYTES = 8_192;
/** When a client may try again while another reconciliation runs, in seconds. */
const RETRY_SECONDS = 10;

/** Reconciles statements for administrators, and stores the reports. Contract, section 7, "Reconciliation". */
@Injectable()
export class ReconciliationService {
  /** An instance runs one reconciliation at a time, because each takes memory, a connection and temporary disk space. */
  private running = false;

  constructor(
    private readonly database: Database,
    private readonly stored: StoredReconciliations,
    private readonly tenancy: TenancyService,
    private readonly audit: Audit,
    private readonly lifecycle: Lifecycle,
  ) {}

  /**
   * Reconciles a statement. Nothing is stored before one transaction at the end.
   * @param statement is read as fast as the work proceeds
   * @throws CroupierError INVALID_REQUEST, with line and column if the statement is not valid, or if there is too much
   *   to compare · RATE_LIMITED while another reconciliation runs on this instance, or another one that records
   *   findings of the operator anywhere · OVERLOADED if the instance stops · the error of reading the statement
   */
  async run(
    actor: Actor,
    request: ReconciliationRequest,
    statement: AsyncIterable<Buffer>,
  ): Promise<ReconciliationResponse> {
    const range = this.rangeOf(request);
    const isRecorded = request.record === 'true';
    if (this.running) throw rateLimited(RETRY_SECONDS);
    this.running = true;
    try {
      const store = await ReconciliationStore.open(this.database.url);
      try {
        if (isRecorded && !(await store.tryLockRecording(range.operatorId))) throw rateLimited(RETRY_SECONDS);
        const items: FindingItem[] = [];
        const outcome = await this.compare(store, range, statement, items);
        const stored = await this.store(actor, range, outcome, items, isRecorded);
        return { ...reconciliationItem(stored), found: items.slice(0, FOUND_SHOWN) };
      } finally {
        await store.close();
      }
    } finally {
      this.running = false;
    }
  }

  /**
   * Newest first.
   * @throws CroupierError INVALID_REQUEST
   */
  list(query: ReconciliationQuery): Promise<PageOf<ReconciliationItem>> {
    return pageByTime(
      query,
      isUuid,
      ({ before, limit }) => this.stored.page(query, before, limit),
      (row) => reconciliationItem(row),
    );
  }

  /** @throws CroupierError NOT_FOUND */
  async find(id: string): Promise<ReconciliationResponse> {
    const stored = await this.requireStored(id);
    const found = await this.stored.findings(id, 0, FOUND_SHOWN);
    return { ...reconciliationItem(stored), found: found.map(({ finding }) => finding) };
  }

  /**
   * The findings of a reconciliation, in the order of its report.
   * @throws CroupierError NOT_FOUND · INVALID_REQUEST
   */
  async findings(id: string, query: ListQuery): Promise<PageOf<FindingItem>> {
    await this.requireStored(id);
    const { items, ...page } = await pageById(
      query,
      ({ after, limit }) => this.stored.findings(id, positionIn(after), limit),
      ({ position }) => String(position),
    );
    return { items: items.map(({ finding }) => finding), ...page };
  }

  private rangeOf({ operatorId, from, to }: ReconciliationRequest): Range {
    // The fields have been validated.
    const range = { operatorId, from: new Date(instantOrDayMs(from)!), to: new Date(instantOrDayMs(to)!) };
    if (range.from >= range.to) throw new CroupierError('INVALID_REQUEST', 'to must be later than from');
    if (!this.tenancy.operator(operatorId)) {
      throw new CroupierError('INVALID_REQUEST', `operatorId names no operator: ${operatorId}`);
    }
    return range;
  }

  /** @param items receives the first findings */
  private async compare(
    store: ReconciliationStore,
    range: Range,
    statement: AsyncIterable<Buffer>,
    items: FindingItem[],
  ): Promise<Outcome> {
    const pace = new Pace();
    const bounds = new ComparisonBounds();
    const rest = async () => {
      if (this.lifecycle.stopping) throw overloaded(1, 'this instance is stopping, and has stored nothing');
      await pace.rest();
    };
    try {
      return await compareStatement(
        store,
        range,
        inBatches(statement, () => pace.begin(), rest),
        {
          foundAtMost: RECORDED,
          onFinding: (finding) => {
            if (items.length < RECORDED) items.push(finding);
          },
          onCompared: rest,
          onPairs: (pairs) => bounds.count(pairs),
          remainingMs: () => bounds.remainingMs(),
        },
      );
    } catch (error) {
      // If PostgreSQL cancelled the statement at the end of its time, this throws the refusal.
      if ((error as { code?: unknown }).code === QUERY_CANCELED) bounds.remainingMs();
      throw error instanceof CsvError ? new CroupierError('INVALID_REQUEST', error.message) : error;
    }
  }

  private store(
    actor: Actor,
    range: Range,
    outcome: Outcome,
    items: readonly FindingItem[],
    isRecorded: boolean,
  ): Promise<StoredReconciliation> {
    const store = async ({ query }: Transaction, recordEntry: RecordEntry) => {
      await lockReconciliations(query, range.operatorId);
      const changed = isRecorded ? await record(query, range, outcome, actor.actor) : undefined;
      const recorded = changed && { opened: changed.opened, closed: changed.closed };
      const stored = await this.stored.insert(query, actor, range, outcome, items, recorded);
      const target = `reconciliation:${stored.reconciliationId}`;
      await recordEntry({ action: 'reconciliation.run', target, after: reconciliationItem(stored) });
      return stored;
    };
    return this.audit.change(actor, store, 'begun');
  }

  private async requireStored(id: string): Promise<StoredReconciliation> {
    const stored = await this.stored.find(id);
    if (!stored) throw new CroupierError('NOT_FOUND', 'no such reconciliation');
    return stored;
  }
}

/** Passes on the statement in small parts, with a rest after each. */
async function* inBatches(
  statement: AsyncIterable<Buffer>,
  begin: () => void,
  rest: () => Promise<void>,
): AsyncGenerator<Buffer> {
  for await (const chunk of statement) {
    begin();
    for (let at = 0; at < chunk.length; at += BATCH_BYTES) {
      yield chunk.subarray(at, at + BATCH_BYTES);
      await rest();
    }
  }
}

const POSITION = /^[1-9]\d{0,5}$/;

/** @throws CroupierError INVALID_REQUEST if the cursor was not a position */
function positionIn(after: string): number {
  if (after === '') return 0;
  if (POSITION.test(after)) return Number(after);
  throw invalidCursor();
}
