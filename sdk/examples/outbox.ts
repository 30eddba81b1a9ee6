import {
  isCroupierError,
  type PlatformError,
  type ProviderClient,
  type TransactionRequest,
  type TransactionResponse,
} from '@croupier/provider-sdk';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Pool, PoolClient } from 'pg';

/**
 * A table that stores every transaction before it is sent, so that none is lost when the process dies. Any process may
 * deliver a row that is OPEN.
 */
export const OUTBOX_TABLE = `
  CREATE TABLE IF NOT EXISTS wallet_outbox (
    transaction_id text PRIMARY KEY,
    request        text NOT NULL,
    state          text NOT NULL DEFAULT 'OPEN'
                   CHECK (state IN ('OPEN', 'DECIDED', 'NOT_BOOKED', 'ROLLED_BACK', 'PARKED')),
    attempts       integer NOT NULL DEFAULT 0,
    next_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    answer         text,
    error          text
  );
  CREATE INDEX IF NOT EXISTS wallet_outbox_due ON wallet_outbox (next_at) WHERE state = 'OPEN'`;

/**
 * - `OPEN`: not yet sent, or sent and not yet decided.
 * - `DECIDED`: `answer` is the platform's final answer, APPROVED or DECLINED.
 * - `NOT_BOOKED`: a BET that was never sent, or whose first attempt was refused. The round may be voided.
 * - `ROLLED_BACK`: a BET that was given up while its outcome was unknown. Its ROLLBACK has a row of its own.
 * - `PARKED`: a WIN or ROLLBACK that the platform refused, or a transaction whose id was used for another request. A
 *   person settles it with the platform; then `reopen` sends a WIN or ROLLBACK again.
 */
export type OutboxState = 'OPEN' | 'DECIDED' | 'NOT_BOOKED' | 'ROLLED_BACK' | 'PARKED';

export interface OutboxEntry {
  state: OutboxState;
  attempts: number;
  answer: TransactionResponse | undefined;
  error: string | undefined;
}

export interface OutboxOptions {
  /**
   * How long one attempt may take, in milliseconds, before another process may send the row again. It must be longer
   * than the client's `timeoutMs`. Default: 15000.
   */
  leaseMs?: number;
  /**
   * Age at which an undecided BET is rolled back, in milliseconds. By then, the player has probably left. Default:
   * 60000.
   */
  betExpiresMs?: number;
  /**
   * Returns the pause before the next attempt, in milliseconds, for the number of attempts so far. Default: one second,
   * doubled after each attempt, up to one minute.
   */
  pauseMs?: (attempts: number) => number;
}

interface Row {
  transaction_id: string;
  request: string;
  attempts: number;
  expired: boolean;
}

/** Delivers transactions at least once; the platform books each at most once. */
export class Outbox {
  private readonly leaseMs: number;
  private readonly betExpiresMs: number;
  private readonly pauseMs: (attempts: number) => number;

  constructor(
    private readonly pool: Pool,
    private readonly platform: ProviderClient,
    options: OutboxOptions = {},
  ) {
    this.leaseMs = options.leaseMs ?? 15_000;
    this.betExpiresMs = options.betExpiresMs ?? 60_000;
    this.pauseMs = options.pauseMs ?? ((attempts) => Math.min(60_000, 1000 * 2 ** (attempts - 1)));
  }

  /**
   * Stores a transaction before it is sent. Storing the same one again changes nothing.
   * @param connection the connection whose open database transaction changes the game's own state, so that both changes
   * are stored or neither
   * @throws Error if another request is stored with this transactionId, because its outcome would be mistaken for the
   * outcome of this request
   */
  async place(request: TransactionRequest, connection: Pool | PoolClient = this.pool): Promise<void> {
    const { transactionId } = request;
    const text = JSON.stringify(request);
    await connection.query(
      `INSERT INTO wallet_outbox (transaction_id, request) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      [transactionId, text],
    );
    const { rows } = await connection.query<{ request: string }>(
      `SELECT request FROM wallet_outbox WHERE transaction_id = $1`,
      [transactionId],
    );
    if (!isDeepStrictEqual(JSON.parse(rows[0]?.request ?? 'null'), JSON.parse(text))) {
      throw new Error(`transaction ${transactionId} is stored with another request`);
    }
  }

  async countOpen(): Promise<number> {
    const { rows } = await this.pool.query<{ count: string }>(
      `SELECT count(*) FROM wallet_outbox WHERE state = 'OPEN'`,
    );
    return Number(rows[0]?.count);
  }

  /** The state of a transaction; undefined if it was never placed. */
  async find(transactionId: string): Promise<OutboxEntry | undefined> {
    const { rows } = await this.pool.query<{
      state: OutboxState;
      attempts: number;
      answer: string | null;
      error: string | null;
    }>(`SELECT state, attempts, answer, error FROM wallet_outbox WHERE transaction_id = $1`, [transactionId]);
    const [row] = rows;
    if (!row) return undefined;
    const { state, attempts, answer, error } = row;
    return {
      state,
      attempts,
      answer: answer === null ? undefined : (JSON.parse(answer) as TransactionResponse),
      error: error ?? undefined,
    };
  }

  /** Sends a transaction that was just placed, and returns its state. If that is OPEN, `deliverDue` sends it again. */
  async deliver(transactionId: string): Promise<OutboxEntry | undefined> {
    await this.attempt(await this.claim(`transaction_id = $1`, [transactionId]));
    return this.find(transactionId);
  }

  /**
   * Sends all rows that are due, but gives up BETs older than `betExpiresMs`. Call this every second, in one or more
   * processes. After a restart, nothing else is needed.
   * @returns the number of rows that were sent or given up
   */
  async deliverDue(): Promise<number> {
    let sent = 0;
    while (await this.attempt(await this.claim(`true`, []))) sent += 1;
    return sent;
  }

  /**
   * Sends a parked WIN or ROLLBACK again, with the same id and fields, once the reason of its refusal is removed. After
   * `SESSION_INVALID`, ask the platform to set `lateSettlementSeconds` now, to more than the time since the session's end;
   * then reopen the WIN. Call `deliver` or `deliverDue` afterwards.
   * @returns false, with nothing changed, if the transaction is not parked, or is a BET: it is parked because its id
   * belongs to another request, which its ROLLBACK would take back
   */
  async reopen(transactionId: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `UPDATE wallet_outbox SET state = 'OPEN', next_at = clock_timestamp()
       WHERE transaction_id = $1 AND state = 'PARKED' AND request::jsonb ->> 'kind' <> 'BET'`,
      [transactionId],
    );
    return rowCount === 1;
  }

  /**
   * Claims one due row for the length of the lease. The attempt is counted before the row is sent: if the process dies,
   * the row still shows that it may have been sent.
   */
  private async claim(condition: string, parameters: unknown[]): Promise<Row | undefined> {
    const lease = parameters.length + 1;
    const { rows } = await this.pool.query<Row>(
      `UPDATE wallet_outbox
       SET attempts = attempts + 1, next_at = clock_timestamp() + $${lease} * interval '1 millisecond'
       WHERE transaction_id = (
         SELECT transaction_id FROM wallet_outbox
         WHERE state = 'OPEN' AND next_at <= clock_timestamp() AND ${condition}
         ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED
       )
       RETURNING transaction_id, request, attempts,
                 created_at < clock_timestamp() - $${lease + 1} * interval '1 millisecond' AS expired`,
      [...parameters, this.leaseMs, this.betExpiresMs],
    );
    return rows[0];
  }

  private async attempt(row: Row | undefined): Promise<boolean> {
    if (!row) return false;
    const request = JSON.parse(row.request) as TransactionRequest;
    if (request.kind === 'BET' && row.expired) {
      if (row.attempts === 1) await this.settle(row, 'NOT_BOOKED', null, 'never sent');
      else await this.rollBack(row, request, 'not decided in time');
      return true;
    }
    try {
      // An earlier attempt, perhaps by a process that died, may have been booked.
      const sentBefore = row.attempts > 1;
      // Retries could last longer than the lease.
      const answer = await this.platform.submitTransaction(request, { sentBefore, retry: false });
      await this.settle(row, 'DECIDED', JSON.stringify(answer), null);
    } catch (error) {
      if (!isCroupierError(error)) throw error;
      await this.handle(row, request, error);
    }
    return true;
  }

  private async handle(row: Row, request: TransactionRequest, error: PlatformError): Promise<void> {
    if (error.retryable) return this.postpone(row, error);
    // If the id was reused, a ROLLBACK could reverse the other request with this id.
    const isReused = error.code === 'TRANSACTION_ID_REUSED';
    // A person has to act, but not on this transaction: it is sent until the secret or the configuration is corrected.
    const isElsewhere = error.name === 'SignatureRejectedError' || error.nextAction === 'contact-platform';
    if (request.kind !== 'BET' && isElsewhere) return this.postpone(row, error);
    if (request.kind !== 'BET' || isReused) return this.settle(row, 'PARKED', null, error.message);
    if (error.outcome === 'not-booked') return this.settle(row, 'NOT_BOOKED', null, error.message);
    // It is not known whether the BET was booked. A ROLLBACK is right in both cases.
    return this.rollBack(row, request, error.message);
  }

  /** Stores the outcome of an attempt. Has no effect if another attempt has begun. */
  private async settle(
    row: Row,
    state: OutboxState,
    answer: string | null,
    error: string | null,
  ): Promise<void> {
    await this.pool.query(
      `UPDATE wallet_outbox SET state = $3, answer = $4, error = $5
       WHERE transaction_id = $1 AND attempts = $2 AND state = 'OPEN'`,
      [row.transaction_id, row.attempts, state, answer, error],
    );
  }

  private async postpone(row: Row, error: PlatformError): Promise<void> {
    const pauseMs = Math.max(this.pauseMs(row.attempts), (error.retryAfterSeconds ?? 0) * 1000);
    await this.pool.query(
      `UPDATE wallet_outbox SET error = $3, next_at = clock_timestamp() + $4 * interval '1 millisecond'
       WHERE transaction_id = $1 AND attempts = $2 AND state = 'OPEN'`,
      [row.transaction_id, row.attempts, error.message, pauseMs],
    );
  }

  /** Ends a BET and places its ROLLBACK in one statement: from then on the BET is never sent again. */
  private async rollBack(row: Row, bet: TransactionRequest & { kind: 'BET' }, reason: string): Promise<void> {
    const { amountMinor: _, ...fields } = bet;
    const rollback: TransactionRequest = {
      ...fields,
      kind: 'ROLLBACK',
      transactionId: rollbackIdOf(bet.transactionId),
      originalTransactionId: bet.transactionId,
    };
    await this.pool.query(
      `WITH ended AS (
         UPDATE wallet_outbox SET state = 'ROLLED_BACK', error = $3
         WHERE transaction_id = $1 AND attempts = $2 AND state = 'OPEN'
         RETURNING transaction_id
       )
       INSERT INTO wallet_outbox (transaction_id, request)
       SELECT $4, $5 FROM ended ON CONFLICT DO NOTHING`,
      [row.transaction_id, row.attempts, reason, rollback.transactionId, JSON.stringify(rollback)],
    );
  }
}

const LONGEST_ID = 128;

/** The id of a BET's ROLLBACK: always the same, and a digest if the readable one would be too long for the platform. */
function rollbackIdOf(betId: string): string {
  const readable = `${betId}-rollback`;
  if (readable.length <= LONGEST_ID) return readable;
  return `rollback-${createHash('sha256').update(betId).digest('hex')}`;
}
