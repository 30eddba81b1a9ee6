import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../database/database.js';
import { timeOrderedPage, type TimeOrderedTable } from '../database/time-ordered.js';
import type { Place } from '../http/lists/time-page.js';

/** An attempt as it is kept; null is what it does not have. */
export interface CallbackRow {
  readonly callbackId: number;
  readonly providerId: string;
  readonly route: string;
  readonly reference: string;
  readonly requestId: string | null;
  readonly body: string;
  readonly status: number | null;
  readonly answer: string | null;
  readonly error: string | null;
  readonly durationMs: number | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

export interface CallbackFilter {
  readonly providerId?: string | undefined;
  readonly route?: string | undefined;
  readonly reference?: string | undefined;
  /** from ≤ createdAt < to, ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const COLUMNS = `
  t.callback_id AS "callbackId", t.provider_id AS "providerId", t.route, t.reference, t.request_id AS "requestId",
  t.body, t.status, t.answer, t.error, t.duration_ms AS "durationMs", t.created_at AS "createdAt",
  t.completed_at AS "completedAt"`;

const CALLBACKS: TimeOrderedTable = {
  columns: COLUMNS,
  from: 'callbacks',
  id: 'callback_id',
  idType: 'bigint',
};

const FIND: Statement = {
  name: 'callback_find',
  text: `SELECT ${COLUMNS} FROM callbacks t WHERE t.callback_id = $1`,
};

export function callbackPage(
  filter: CallbackFilter,
  { before, limit }: { before: Place | undefined; limit: number },
) {
  const { reference, providerId: provider_id, route } = filter;
  return timeOrderedPage(CALLBACKS, { reference, provider_id, route }, { ...filter, before }, limit);
}

/** What the desk reads of callbacks; it writes none. */
@Injectable()
export class CallbackSearchStore {
  constructor(private readonly database: Database) {}

  page(
    filter: CallbackFilter,
    page: { before: Place | undefined; limit: number },
  ): Promise<(CallbackRow & { place: string })[]> {
    const { statement, values } = callbackPage(filter, page);
    return this.database.query<CallbackRow & { place: string }>(statement, values);
  }

  async find(callbackId: number): Promise<CallbackRow | undefined> {
    const [row] = await this.database.query<CallbackRow>(FIND, [callbackId]);
    return row;
  }
}
