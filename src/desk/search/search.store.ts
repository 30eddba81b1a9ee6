import { Injectable } from '@nestjs/common';
import { isUuid } from '../../api/validation/identifier.js';
import { Database } from '../../database/database.js';
import { leading, UNMERGED } from '../../database/planner.js';
import { named } from '../../database/statement.js';
import { AttemptIds, KEPT_DAYS } from '../../wallet/evidence/attempt-ids.js';
import { ALL_PROVIDERS } from '../transactions/transaction-search.sql.js';
import { type FoundRow, searchItem, type SearchResponse } from './search.response.js';

/** Maximum number of items in an answer. Contract, section 9. */
const MAX_ITEMS = 50;
/** Maximum number of transactions that are read to find the rounds with a roundId. */
const ROWS_OF_ROUND = 2_000;
/** Maximum number of rows that are read from each table to find the operators of a player. */
const ROWS_OF_PLAYER = 200;

const TEXT = ':id::text';
/** The same id if it is a UUID, else null. */
const UUID = ':uuid::uuid';

const PROVIDERS = `(${ALL_PROVIDERS}) provider`;

const COLUMNS = [
  'id',
  'operatorId',
  'providerId',
  'playerRef',
  'at',
  'gameId',
  'mode',
  'transactionId',
  'callbackId',
] as const;

/** The select list of an item, in the same order for each type, because UNION matches columns by position. */
function item(type: string, columns: Partial<Record<(typeof COLUMNS)[number], string>>): string {
  const list = COLUMNS.map((name) => `${columns[name] ?? 'NULL'} AS "${name}"`);
  return `SELECT '${type}' AS type, ${list.join(', ')}`;
}

/** The columns of the parties, in a row with this alias. */
const partiesOf = (alias: string) => ({
  operatorId: `${alias}.operator_id`,
  providerId: `${alias}.provider_id`,
  playerRef: `${alias}.player_ref`,
});

const TRANSACTION = item('transaction', {
  id: 't.transaction_id',
  ...partiesOf('t'),
  at: 't.created_at',
});

/** Joins the transaction with this key to each row on the left. */
const transactionsWith = (transactionId: string, providerId: string) => `
  CROSS JOIN LATERAL (
    SELECT * FROM transactions t WHERE t.provider_id = ${providerId} AND t.transaction_id = ${transactionId} ${UNMERGED}) t`;

/**
 * At most `MAX_ITEMS` of the newest attempts with an id, because a provider may use one request id for all requests.
 */
const attemptsWith = (column: string, wanted: string) => `
  (SELECT provider_id, transaction_id, created_at FROM attempt_ids
    WHERE ${column} = ${wanted} ORDER BY created_at DESC LIMIT ${MAX_ITEMS})`;

const BY_ID_IN_ATTEMPT = `(
  SELECT DISTINCT provider_id, transaction_id FROM (
    ${attemptsWith('platform_transaction_id', UUID)}
    UNION ALL ${attemptsWith('operator_transaction_id', TEXT)}
    UNION ALL ${attemptsWith('request_id', TEXT)}) with_id) attempt`;

const REQUESTS_OF_TRANSACTIONS = `
  ${item('request', {
    id: TEXT,
    ...partiesOf('t'),
    at: 'max(attempt.created_at)',
    transactionId: 't.transaction_id',
  })}
    FROM ${attemptsWith('request_id', TEXT)} attempt ${transactionsWith('attempt.transaction_id', 'attempt.provider_id')}
   GROUP BY t.operator_id, t.provider_id, t.player_ref, t.transaction_id`;

/** One row for all audit entries of a request. */
const REQUEST_OF_AUDIT = `
  SELECT * FROM (
    ${item('request', { id: 'e.request_id', at: 'e.created_at' })} FROM audit_entries e
     WHERE ${leading({ 'e.request_id': TEXT })} ORDER BY e.request_id DESC, e.day DESC, e.position DESC LIMIT 1) newest`;

/** The newest callbacks with a request id. They are found as long as the ids of attempts. */
const REQUESTS_OF_CALLBACKS = `
  SELECT * FROM (
    ${item('request', {
      id: TEXT,
      providerId: 'c.provider_id',
      at: 'c.created_at',
      callbackId: 'c.callback_id::text',
    })}
      FROM callbacks c
     WHERE c.request_id = ${TEXT} AND c.created_at > statement_timestamp() - interval '${KEPT_DAYS} days'
     ORDER BY c.created_at DESC, c.callback_id DESC LIMIT ${MAX_ITEMS}) newest`;

const ROUNDS = `
  ${item('round', {
    id: TEXT,
    ...partiesOf('r'),
    at: 'min(r.created_at)',
    gameId: 'r.game_id',
    mode: 'r.mode',
  })}
    FROM (SELECT * FROM transactions WHERE round_id = ${TEXT} LIMIT ${ROWS_OF_ROUND}) r
   GROUP BY r.operator_id, r.provider_id, r.player_ref, r.game_id, r.mode`;

const SESSION = `
  ${item('session', {
    id: 's.session_id::text',
    ...partiesOf('s'),
    at: 's.created_at',
  })}
    FROM sessions s WHERE s.session_id = ${UUID}`;

/**
 * A player's newest rows in a table.
 * @param order the columns that follow the player in the table's index
 */
const newestOfPlayer = (table: string, order: readonly string[]) => `
  (SELECT t.operator_id, t.created_at FROM ${table} t WHERE ${leading({ 't.player_ref': TEXT })}
    ORDER BY t.player_ref DESC, ${order.map((column) => `t.${column} DESC`).join(', ')} LIMIT ${ROWS_OF_PLAYER})`;

const PLAYERS = `
  ${item('player', { id: TEXT, operatorId: 'p.operator_id', playerRef: TEXT, at: 'max(p.created_at)' })}
    FROM (${newestOfPlayer('sessions', ['created_at', 'session_id'])}
          UNION ALL ${newestOfPlayer('transactions', ['created_at', 'platform_transaction_id'])}
          UNION ALL ${newestOfPlayer('free_spin_grants', ['grant_no'])}) p
   GROUP BY p.operator_id`;

const GRANT = item('grant', {
  id: 'g.request_ref',
  ...partiesOf('g'),
  at: 'g.created_at',
});
const GRANTS = `${GRANT} FROM free_spin_grants g WHERE g.request_ref = ${TEXT}`;
const GRANTS_BY_EXTERNAL_REF = `
  ${GRANT} FROM ${PROVIDERS} CROSS JOIN LATERAL (
    SELECT * FROM free_spin_grants g WHERE g.provider_id = provider.id AND g.external_ref = ${TEXT}
     LIMIT ${MAX_ITEMS}) g`;

const BATCH = `
  ${item('batch', { id: 'b.batch_id::text', operatorId: 'b.operator_id', at: 'b.created_at' })}
    FROM free_spin_batches b`;
const APPROVAL = `
  ${item('approval', { id: 'a.approval_id::text', operatorId: 'a.operator_id', at: 'a.created_at' })}
    FROM approvals a`;

/**
 * Finds the newest records that an id identifies, within the limits above. Each part uses an index. UNION removes
 * duplicates. The statement has no name, so that PostgreSQL plans it for each id.
 */
export const SEARCH = named(
  '',
  `
    SELECT * FROM (
      ${[
        `${TRANSACTION} FROM ${PROVIDERS} ${transactionsWith(TEXT, 'provider.id')}`,
        `${TRANSACTION} FROM ${BY_ID_IN_ATTEMPT} ${transactionsWith('attempt.transaction_id', 'attempt.provider_id')}`,
        REQUESTS_OF_TRANSACTIONS,
        REQUEST_OF_AUDIT,
        REQUESTS_OF_CALLBACKS,
        ROUNDS,
        SESSION,
        PLAYERS,
        GRANTS,
        GRANTS_BY_EXTERNAL_REF,
        `${BATCH} WHERE b.batch_id = ${UUID}`,
        `${BATCH} WHERE b.batch_ref = ${TEXT}`,
        `${APPROVAL} WHERE a.approval_id = ${UUID}`,
        // Only a waiting approval is found by its action's reference. After the approval, the search finds the record
        // that the action created.
        `${APPROVAL} WHERE a.state = 'WAITING' AND a.reference = ${TEXT}`,
      ].join('\nUNION\n')}
    ) found
    ORDER BY at DESC, type, id LIMIT ${MAX_ITEMS}`,
);

/** Finds records by an id of any kind. Contract, section 9. */
@Injectable()
export class SearchStore {
  constructor(
    private readonly database: Database,
    private readonly attemptIds: AttemptIds,
  ) {}

  /**
   * Finds exact matches, newest first, at most `MAX_ITEMS`. Other instances' attempts are found about half a second
   * after they end.
   */
  async search(id: string): Promise<SearchResponse> {
    await this.attemptIds.flush();
    const rows = await this.database.query<FoundRow>(SEARCH, { id, uuid: isUuid(id) ? id : undefined });
    return { items: rows.map(searchItem) };
  }
}
