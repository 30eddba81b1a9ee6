import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Stores when a grant got its externalRef, and of which other grant it is a duplicate (contract, section 6). The
 * previous release sets neither column: a grant without `granted_at` counts as granted when it was created. An attention
 * item of a duplicate has its `duplicate_of` too, which distinguishes it from the item of an earlier failure.
 *
 * A WIN is now also flagged as CANCELLED if its freeSpinsRef was granted again only after the WIN, and a duplicate is no
 * reason against a flag. So the trigger of migration 0022 marks more WINs, and the stored WINs to which this applies are
 * marked.
 *
 * The trigger reads `free_spin_grants` for each WIN of free spins, so a statement that locks this table for longer than a
 * moment stops these WINs. Therefore the constraints are added as NOT VALID and validated by separate statements, and
 * the index is created concurrently; neither blocks reads or writes. Validation cannot fail, because the columns are new
 * and the previous release sets neither.
 *
 * Each step can be repeated.
 */
export class DuplicateGrants1764000000025 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMNS);
    await runner.query(COLUMN_OF_ITEM);
    await runner.query('ALTER TABLE free_spin_grants VALIDATE CONSTRAINT free_spin_grants_granted');
    await runner.query('ALTER TABLE free_spin_grants VALIDATE CONSTRAINT free_spin_grants_duplicate');
    await indexConcurrently(runner, 'free_spin_grants_duplicates', DUPLICATES);
    await runner.query(MARK_WIN_OF_FREE_SPINS);
    await runner.query(MARK_STORED_WINS);
  }
}

const COLUMNS = `
ALTER TABLE free_spin_grants
  ADD COLUMN IF NOT EXISTS granted_at timestamptz,
  ADD COLUMN IF NOT EXISTS duplicate_of text REFERENCES free_spin_grants (request_ref),
  DROP CONSTRAINT IF EXISTS free_spin_grants_granted,
  ADD CONSTRAINT free_spin_grants_granted CHECK (granted_at IS NULL OR external_ref IS NOT NULL) NOT VALID,
  DROP CONSTRAINT IF EXISTS free_spin_grants_duplicate,
  ADD CONSTRAINT free_spin_grants_duplicate CHECK (
    duplicate_of IS NULL OR (granted_at IS NOT NULL AND duplicate_of <> request_ref)) NOT VALID
`;

const COLUMN_OF_ITEM = 'ALTER TABLE attention_items ADD COLUMN IF NOT EXISTS duplicate_of text';

/** The search for causes of attention reads the index. */
const DUPLICATES = 'free_spin_grants (granted_at, request_ref) WHERE duplicate_of IS NOT NULL';

const KEYS = 'provider_id, transaction_id, platform_transaction_id, operator_id, created_at';

/**
 * Marks a WIN unless its player has a grant of its freeSpinsRef and currency that is live, is no duplicate and had the
 * reference before the WIN. Such a grant can only be cancelled after the WIN, so no flag will apply.
 */
const MARK_WIN_OF_FREE_SPINS = `
CREATE OR REPLACE FUNCTION mark_win_of_free_spins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.kind = 'WIN' AND NEW.mode = 'REAL' AND NOT EXISTS (
    SELECT FROM (SELECT * FROM free_spin_grants
                  WHERE provider_id = NEW.provider_id AND external_ref = NEW.free_spins_ref OFFSET 0) g
     WHERE g.operator_id = NEW.operator_id AND g.player_ref = NEW.player_ref AND g.currency = NEW.currency
       AND g.state = 'GRANTED' AND g.cancel_attempt = 0 AND g.duplicate_of IS NULL
       AND coalesce(g.granted_at, g.created_at) <= NEW.created_at) THEN
    INSERT INTO flaggable_wins (${KEYS})
    VALUES (NEW.${KEYS.replaceAll(', ', ', NEW.')}) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
`;

/** Marks the stored WINs whose freeSpinsRef was cancelled before the WIN and granted again after it. */
export const MARK_STORED_WINS = `
INSERT INTO flaggable_wins (${KEYS})
SELECT DISTINCT t.${KEYS.replaceAll(', ', ', t.')}
  FROM (SELECT provider_id, operator_id, player_ref, external_ref, min(cancelled_at) AS cancelled_at
          FROM free_spin_grants WHERE external_ref IS NOT NULL
         GROUP BY provider_id, operator_id, player_ref, external_ref
        HAVING count(*) > 1 AND min(cancelled_at) IS NOT NULL) r
 CROSS JOIN LATERAL (SELECT * FROM transactions
                      WHERE provider_id = r.provider_id AND free_spins_ref = r.external_ref OFFSET 0) t
 WHERE t.operator_id = r.operator_id AND t.player_ref = r.player_ref AND t.created_at >= r.cancelled_at
   AND t.kind = 'WIN' AND t.mode = 'REAL' AND t.state <> 'DECLINED'
ON CONFLICT DO NOTHING
`;
