import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

/** What an attempt came to, as it is kept. */
export interface Completion {
  readonly status: number | null;
  /** The provider's own words, at most 4 KiB. */
  readonly answer: string | null;
  readonly error: string | null;
  readonly durationMs: number;
}

const BEGIN = {
  name: 'callback_begin',
  text: `
    INSERT INTO callbacks (provider_id, route, reference, request_id, body) VALUES ($1, $2, $3, $4, $5)
    RETURNING callback_id AS "callbackId"`,
};

const COMPLETE = {
  name: 'callback_complete',
  text: `
    UPDATE callbacks SET status = $2, answer = $3, error = $4, duration_ms = $5, completed_at = clock_timestamp()
     WHERE callback_id = $1 AND completed_at IS NULL`,
};

/** One row for each attempt to call a provider. */
@Injectable()
export class CallbackStore {
  constructor(private readonly database: Database) {}

  /** @returns the row's id; what is never completed was under way when its instance died */
  async begin(attempt: {
    providerId: string;
    route: string;
    reference: string;
    requestId: string | undefined;
    body: string;
  }): Promise<number> {
    const { providerId, route, reference, requestId, body } = attempt;
    const values = [providerId, route, reference, requestId ?? null, body];
    const [row] = await this.database.query<{ callbackId: number }>(BEGIN, values);
    return row!.callbackId;
  }

  async complete(callbackId: number, { status, answer, error, durationMs }: Completion): Promise<void> {
    await this.database.query(COMPLETE, [callbackId, status, answer, error, durationMs]);
  }
}
