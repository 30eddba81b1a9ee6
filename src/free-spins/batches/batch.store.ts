import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Query } from '../../database/database.js';
import { named } from '../../database/statement.js';
import { currentRequestId } from '../../observability/trace.js';
import { Grant } from '../grants/grant.entity.js';
import { HAS_NO_SUCCESSOR, NOT_EXPIRED, REACHED, UNSENT } from '../grants/grant.sql.js';
import type { NewGrant, Reached } from '../grants/grant.store.js';
import { Batch } from './batch.entity.js';

interface NewBatch
  extends Omit<NewGrant, 'requestRef' | 'playerRef'>, Pick<Batch, 'batchId' | 'batchRef' | 'fingerprint'> {
  readonly players: readonly { readonly requestRef: string; readonly playerRef: string }[];
}

const IS_BATCH_RECORDED = named(
  'grant_is_batch_recorded',
  'SELECT FROM free_spin_batches WHERE batch_ref = :batchRef',
);

/** Records a batch and one unsent grant for each player, atomically. No row is returned if the batchRef is taken. */
const RECORD_BATCH = named(
  'grant_record_batch',
  `WITH batch AS (
     INSERT INTO free_spin_batches (batch_id, batch_ref, operator_id, fingerprint, game_id)
     VALUES (:batchId, :batchRef, :operatorId, :fingerprint, :gameId)
     ON CONFLICT (batch_ref) DO NOTHING
     RETURNING batch_id
   )
   INSERT INTO free_spin_grants (request_ref, operator_id, provider_id, player_ref, game_id, spins,
                                 bet_amount_minor, currency, expires_at, state, attempt, batch_id, request_id)
   SELECT player.request_ref, :operatorId, :providerId, player.player_ref, :gameId, :spins, :betAmountMinor, :currency,
          :expiresAt::timestamptz, 'PENDING', 0, batch.batch_id, :requestId
     FROM batch, unnest(:requestRefs::text[], :playerRefs::text[]) WITH ORDINALITY AS player (request_ref, player_ref, place)
    ORDER BY player.place
   RETURNING request_ref`,
);

/**
 * Cancels the unsent grants of a batch. One that waits to be resent and may have been booked before becomes FAILED
 * again, because its outcome is still unknown, and its cancel stays due.
 */
const CANCEL_UNSENT = named(
  'grant_cancel_unsent',
  `UPDATE free_spin_grants
      SET state = CASE WHEN outcome_unknown THEN 'FAILED' ELSE 'CANCELLED' END,
          failure_error = CASE WHEN outcome_unknown THEN :error END,
          cancelled_at = CASE WHEN NOT outcome_unknown THEN clock_timestamp() END, cancel_due = outcome_unknown,
          updated_at = clock_timestamp()
    WHERE batch_id = :batchId AND ${UNSENT}
   RETURNING ${REACHED}`,
);

/**
 * Lets the cancel and the resend of a batch follow one another. Otherwise a cancel would see some grants as they are
 * before a concurrent resend, and others as they are after it.
 */
const LOCK = named('batch_lock', 'SELECT FROM free_spin_batches WHERE batch_id = :batchId FOR NO KEY UPDATE');

/**
 * Makes a cancel due for each grant of a batch that is GRANTED or may still become so: it is PENDING, or FAILED with an
 * unknown outcome. Grants whose cancel would void a newer one are left out. If another cancel is under way, the new number
 * keeps its failure from ending this one.
 */
const MAKE_CANCELS_DUE = named(
  'grant_make_cancels_due',
  `UPDATE free_spin_grants g
      SET cancel_due = true, cancel_request_id = :requestId, updated_at = clock_timestamp(),
          cancel_attempt = cancel_attempt + CASE WHEN cancel_lease_until IS NULL THEN 0 ELSE 1 END
    WHERE batch_id = :batchId AND NOT cancel_due AND ${HAS_NO_SUCCESSOR}
      AND (state IN ('PENDING', 'GRANTED') OR state = 'FAILED' AND outcome_unknown)
   RETURNING request_ref`,
);

/**
 * Queues the FAILED grants of a batch to be sent again, unless they have expired; those of unknown outcome only if
 * `includeUnknown` is true.
 */
const RESEND_BATCH = named(
  'grant_resend_batch',
  `UPDATE free_spin_grants
      SET state = 'PENDING', failure_status = NULL, failure_error = NULL, cancel_due = false, request_id = :requestId,
          carried_out_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE batch_id = :batchId AND state = 'FAILED' AND (NOT outcome_unknown OR :includeUnknown) AND ${NOT_EXPIRED}
   RETURNING request_ref`,
);

/** Records, cancels and resends batches; every update is conditional on the current state of the grants. */
@Injectable()
export class BatchStore {
  constructor(
    @InjectRepository(Batch) private readonly batches: Repository<Batch>,
    @InjectRepository(Grant) private readonly items: Repository<Grant>,
  ) {}

  async isBatchRecorded(query: Query, batchRef: string): Promise<boolean> {
    return (await query(IS_BATCH_RECORDED, { batchRef })).length > 0;
  }

  /** @returns false if the batchRef is taken */
  async recordBatch(query: Query, batch: NewBatch): Promise<boolean> {
    const requestRefs = batch.players.map(({ requestRef }) => requestRef);
    const playerRefs = batch.players.map(({ playerRef }) => playerRef);
    const values = { ...batch, requestRefs, playerRefs, requestId: currentRequestId() };
    return (await query(RECORD_BATCH, values)).length > 0;
  }

  batchByRef(batchRef: string): Promise<Batch | null> {
    return this.batches.findOneBy({ batchRef });
  }

  /** The grants of a batch in the order of its players. */
  grantsOf(batchId: string): Promise<Grant[]> {
    return this.items.find({ where: { batchId }, order: { grantNo: 'ASC' } });
  }

  /**
   * Cancels unsent grants, and makes a cancel due for each grant that is GRANTED or may become so.
   * @returns `changed`: the number of changed grants; `reached`: the grants with a new state, to be passed to `count`
   *   after the commit
   */
  async cancelBatch(
    query: Query,
    batchId: string,
    error: string,
  ): Promise<{ changed: number; reached: readonly Reached[] }> {
    await query(LOCK, { batchId });
    // Runs first, because it locks the PENDING grants, claimed or not. From then on no grant is claimed, and a claim whose
    // call could not be made fails its grant. In the reverse order, the claim could end between the statements: the grant
    // would be unsent again, and would be sent.
    const due = await query(MAKE_CANCELS_DUE, { batchId, requestId: currentRequestId() });
    const reached = await query<Reached>(CANCEL_UNSENT, { batchId, error });
    return { changed: due.length, reached };
  }

  /** @returns how many grants were queued */
  async resendBatch(query: Query, batchId: string, includeUnknown: boolean): Promise<number> {
    await query(LOCK, { batchId });
    const values = { batchId, includeUnknown, requestId: currentRequestId() };
    return (await query(RESEND_BATCH, values)).length;
  }
}
