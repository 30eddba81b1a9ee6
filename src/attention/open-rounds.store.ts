import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { leading, lookUp, UNMERGED } from '../database/planner.js';
import { named } from '../database/statement.js';
import { openRound } from '../desk/rounds/open-round.sql.js';
import type { TenantPair } from './causes.js';

const A_DAY_AGO = `statement_timestamp() - interval '24 hours'`;
/** The rounds of last week are those that began between one and eight days ago. */
const EIGHT_DAYS_AGO = `statement_timestamp() - interval '8 days'`;

/** Selects the transactions t of an operator and a provider that are older than a day. */
const ofPairSinceADay = (operatorId: string, providerId: string): string =>
  leading({ 't.operator_id': operatorId, 't.provider_id': providerId }, { 't.created_at': A_DAY_AGO });

/** The order of the index transactions_of_tenants. */
const NEWEST_OF_PAIR =
  't.operator_id DESC, t.provider_id DESC, t.created_at DESC, t.platform_transaction_id DESC';

const PROVIDERS = named(
  'cause_providers',
  `SELECT id AS "providerId" FROM tenants WHERE kind = 'PROVIDER' ORDER BY id`,
);

/**
 * Selects the pairs of a provider and an operator with transactions older than a day. Each operator costs one probe of
 * the index transactions_of_tenants, so a statement for all providers could exceed its time-out.
 */
export const TRADING_PAIRS = named(
  'cause_trading_pairs',
  `
    SELECT o.id AS "operatorId", :providerId::text AS "providerId" FROM tenants o
     WHERE o.kind = 'OPERATOR'
       AND ${lookUp(
         'true',
         `FROM transactions t
             WHERE ${ofPairSinceADay('o.id', ':providerId')}
             ORDER BY ${NEWEST_OF_PAIR} LIMIT 1`,
       )}
     ORDER BY o.id`,
);

const FIRST_BET = `min(t.created_at) FILTER (WHERE t.kind = 'BET')`;

/** Reads the newest transactions of an operator and a provider that are older than a day, and counts their rounds. */
export const OPEN_ROUNDS = named(
  'cause_open_rounds',
  `
    WITH examined AS MATERIALIZED (
      SELECT t.round_id, t.player_ref, t.game_id, t.kind, t.mode, t.state FROM transactions t
       WHERE ${ofPairSinceADay(':operatorId', ':providerId')} ORDER BY ${NEWEST_OF_PAIR} LIMIT :limit)
    SELECT (count(*) FILTER (WHERE state.open))::int AS open,
           (count(*) FILTER (WHERE state.of_last_week))::int AS "ofLastWeek",
           (count(*) FILTER (WHERE state.of_last_week AND state.open))::int AS "openOfLastWeek",
           (SELECT count(*) FROM examined) = :limit AS partial
      FROM (SELECT DISTINCT n.round_id, n.player_ref, n.game_id FROM examined n
             WHERE n.kind = 'BET' AND n.mode = 'REAL' AND n.state <> 'DECLINED') r
     CROSS JOIN LATERAL (
       SELECT ${openRound('t')} AND ${FIRST_BET} < ${A_DAY_AGO} AS open, ${FIRST_BET} >= ${EIGHT_DAYS_AGO} AS of_last_week
         FROM (SELECT * FROM transactions t
                WHERE t.round_id = r.round_id AND t.player_ref = r.player_ref AND t.provider_id = :providerId
                  AND t.game_id = r.game_id AND t.operator_id = :operatorId AND t.mode = 'REAL' ${UNMERGED}) t) state`,
);

/** Counts of the rounds of an operator and a provider, among the transactions that were read. */
export interface CountedRounds {
  /** Rounds that have been open for more than a day. */
  readonly open: number;
  /** Rounds that began between one and eight days ago. */
  readonly ofLastWeek: number;
  readonly openOfLastWeek: number;
  /** Whether there may be older transactions, which were not read. The true counts may then be higher. */
  readonly partial: boolean;
}

/** Counts rounds that stay open, in the transactions of the wallet. */
@Injectable()
export class OpenRoundsStore {
  constructor(private readonly database: Database) {}

  /** The ids of all providers, in order. */
  async providers(): Promise<string[]> {
    const rows = await this.database.query<Pick<TenantPair, 'providerId'>>(PROVIDERS, {});
    return rows.map(({ providerId }) => providerId);
  }

  /** Ordered by operator. */
  tradingPairs(providerId: string): Promise<TenantPair[]> {
    return this.database.query(TRADING_PAIRS, { providerId });
  }

  /** @param limit maximum number of transactions to read, newest first */
  async count(pair: TenantPair, limit: number): Promise<CountedRounds> {
    const [counted] = await this.database.query<CountedRounds>(OPEN_ROUNDS, { ...pair, limit });
    return counted!;
  }
}
