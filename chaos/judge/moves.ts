import pg from 'pg';
import type { Kind, Mode, State, WinKind } from '../../src/wallet/rules/facts.js';

/**
 * Creates triggers that record each new transaction, and each change of a transaction's state, attempt or ROLLBACK, in
 * the order in which PostgreSQL makes them. A record is rolled back with its change.
 */
const RECORD_MOVES = `
CREATE TABLE chaos_moves (
  seq bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  xid bigint NOT NULL DEFAULT txid_current(),
  inserted boolean NOT NULL,
  provider_id text NOT NULL,
  transaction_id text NOT NULL,
  round_id text,
  player_ref text NOT NULL,
  state text NOT NULL,
  attempt integer NOT NULL,
  lease_until timestamptz,
  rollback_id text,
  response_body text,
  fixed jsonb
);
CREATE FUNCTION chaos_record_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO chaos_moves (inserted, provider_id, transaction_id, round_id, player_ref, state, attempt, lease_until,
                           rollback_id, response_body, fixed)
  VALUES (TG_OP = 'INSERT', NEW.provider_id, NEW.transaction_id, NEW.round_id, NEW.player_ref, NEW.state, NEW.attempt,
          NEW.lease_until, NEW.rollback_id, NEW.response_body,
          CASE WHEN TG_OP = 'INSERT' THEN jsonb_build_object(
            'platformTransactionId', NEW.platform_transaction_id, 'kind', NEW.kind, 'operatorId', NEW.operator_id,
            'sessionId', NEW.session_id, 'mode', NEW.mode, 'gameId', NEW.game_id, 'currency', NEW.currency,
            'amountMinor', NEW.amount_minor, 'originalTransactionId', NEW.original_transaction_id,
            'freeSpinsRef', NEW.free_spins_ref, 'winKind', NEW.win_kind, 'promotionRef', NEW.promotion_ref,
            'verdict', NEW.verdict, 'declineReason', NEW.decline_reason) END);
  RETURN NULL;
END $$;
CREATE TRIGGER chaos_insert AFTER INSERT ON transactions FOR EACH ROW EXECUTE FUNCTION chaos_record_move();
CREATE TRIGGER chaos_update AFTER UPDATE ON transactions FOR EACH ROW
  WHEN ((OLD.state, OLD.attempt, OLD.rollback_id) IS DISTINCT FROM (NEW.state, NEW.attempt, NEW.rollback_id))
  EXECUTE FUNCTION chaos_record_move();
`;

/** The columns that a transaction's first claim fixes. */
export interface Fixed {
  readonly platformTransactionId: string;
  readonly kind: Kind | 'ADJUSTMENT' | null;
  readonly operatorId: string;
  readonly sessionId: string | null;
  readonly mode: Mode;
  readonly gameId: string | null;
  readonly currency: string;
  readonly amountMinor: number;
  readonly originalTransactionId: string | null;
  readonly freeSpinsRef: string | null;
  readonly winKind: WinKind | null;
  readonly promotionRef: string | null;
  readonly verdict: 'APPROVED' | 'DECLINED' | null;
  readonly declineReason: string | null;
}

export interface Move {
  readonly seq: string;
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly xid: string;
  readonly providerId: string;
  readonly transactionId: string;
  readonly roundId: string | null;
  readonly playerRef: string;
  readonly state: State;
  readonly attempt: number;
  readonly leaseUntil: number | null;
  readonly rollbackId: string | null;
  readonly responseBody: string | null;
  /** Only for the first move of a transaction. */
  readonly fixed: Fixed | null;
}

export async function recordMoves(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(RECORD_MOVES);
  await client.end();
}

const READ_MOVES = `
SELECT seq, extract(epoch FROM at)::float8 * 1000 AS at, xid, provider_id AS "providerId",
       transaction_id AS "transactionId", round_id AS "roundId", player_ref AS "playerRef", state, attempt,
       extract(epoch FROM lease_until)::float8 * 1000 AS "leaseUntil", rollback_id AS "rollbackId",
       response_body AS "responseBody", fixed
  FROM chaos_moves ORDER BY provider_id, player_ref, round_id, seq`;

/** Rows read at a time. */
const FETCH = 5000;

/** The moves of each round, in order. */
export async function* roundsOf(databaseUrl: string): AsyncGenerator<Move[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`DECLARE moves CURSOR FOR ${READ_MOVES}`);
    let round: Move[] = [];
    for (;;) {
      const { rows } = await client.query<Move>(`FETCH ${FETCH} FROM moves`);
      if (rows.length === 0) break;
      for (const move of rows) {
        const [first] = round;
        if (first && !sameRound(first, move)) {
          yield round;
          round = [];
        }
        round.push(move);
      }
    }
    if (round.length > 0) yield round;
  } finally {
    await client.end();
  }
}

function sameRound(one: Move, other: Move): boolean {
  return (
    one.roundId === other.roundId && one.playerRef === other.playerRef && one.providerId === other.providerId
  );
}
