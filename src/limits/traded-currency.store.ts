import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { named } from '../database/statement.js';
import type { LimitKey } from './limit.store.js';

/** Several instances store the same currency. An hour is precise enough, so most of them write nothing. */
const TRADED = named(
  'limit_traded',
  `INSERT INTO traded_currencies AS t (operator_id, currency, last_traded_at)
   SELECT k."operatorId", k.currency, statement_timestamp()
     FROM jsonb_to_recordset(:traded::jsonb) AS k ("operatorId" text, currency text)
    ORDER BY 1, 2
   ON CONFLICT (operator_id, currency) DO UPDATE SET last_traded_at = excluded.last_traded_at
    WHERE t.last_traded_at < excluded.last_traded_at - interval '1 hour'`,
);

@Injectable()
export class TradedCurrencyStore {
  constructor(private readonly database: Database) {}

  async store(traded: readonly LimitKey[]): Promise<void> {
    await this.database.query(TRADED, { traded: JSON.stringify(traded) });
  }
}
