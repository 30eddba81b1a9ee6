import type { QueryRunner } from 'typeorm';
import { dropIndexConcurrently, indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * An externalRef is unique per player only: a provider may answer all players of a campaign with the same one. Adds the
 * indexes by which the grants and WINs of one player with an externalRef are found without reading those of other
 * players, and lets the trigger of migration 0025 use them.
 *
 * A mark in `flaggable_wins` now has the WIN's freeSpinsRef. A WIN whose player has no grant of it is always marked, so
 * the winnings of a grant find the WINs of other players by their marks. `mark_wins_of_round` and `mark_win_above_limit`
 * need not set the column: if they mark a WIN first, its player had a live grant of its freeSpinsRef.
 *
 * The new indexes begin with the columns of those that they replace, so they serve the previous release, too.
 *
 * Each step can be repeated.
 */
export class WinningsOfSharedReferences1764000000053 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES_OF_GRANTS)) {
      await indexConcurrently(runner, name, `free_spin_grants ${definition}`);
    }
    await runner.query('ALTER TABLE flaggable_wins ADD COLUMN IF NOT EXISTS free_spins_ref text');
    await runner.query(MARK_WIN_OF_FREE_SPINS);
    await indexConcurrently(
      runner,
      'flaggable_wins_of_free_spins',
      `flaggable_wins (provider_id, free_spins_ref)
        WHERE free_spins_ref IS NOT NULL`,
    );
    // The build has waited for the transactions in which the previous trigger ran, so this finds their marks, too.
    await runner.query(NAME_REFERENCES_OF_MARKS);
    await indexConcurrently(
      runner,
      'transactions_of_free_spins_of_player',
      `transactions (provider_id, free_spins_ref, operator_id, player_ref) WHERE free_spins_ref IS NOT NULL`,
    );
    await dropIndexConcurrently(runner, 'free_spin_grants_external');
    await dropIndexConcurrently(runner, 'transactions_of_free_spins');
  }
}

const INDEXES_OF_GRANTS = {
  free_spin_grants_external_of_player: `(provider_id, external_ref, operator_id, player_ref)
     WHERE external_ref IS NOT NULL`,
  // Duplicates are left out, because no WIN counts in them.
  free_spin_grants_external_by_time: `(provider_id, external_ref, coalesce(granted_at, created_at), grant_no)
     WHERE external_ref IS NOT NULL AND duplicate_of IS NULL`,
};

const KEYS = 'provider_id, transaction_id, platform_transaction_id, operator_id, created_at, free_spins_ref';

/** Marks the same WINs as before. OFFSET 0 keeps the conditions outside from choosing another index. */
const MARK_WIN_OF_FREE_SPINS = `
CREATE OR REPLACE FUNCTION mark_win_of_free_spins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.kind = 'WIN' AND NEW.mode = 'REAL' AND NOT EXISTS (
    SELECT FROM (SELECT * FROM free_spin_grants
                  WHERE provider_id = NEW.provider_id AND external_ref = NEW.free_spins_ref
                    AND operator_id = NEW.operator_id AND player_ref = NEW.player_ref OFFSET 0) g
     WHERE g.currency = NEW.currency AND g.state = 'GRANTED' AND g.cancel_attempt = 0 AND g.duplicate_of IS NULL
       AND coalesce(g.granted_at, g.created_at) <= NEW.created_at) THEN
    INSERT INTO flaggable_wins (${KEYS})
    VALUES (NEW.${KEYS.replaceAll(', ', ', NEW.')}) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
`;

/** Each WIN is found by its key: a join could read all transactions. */
const NAME_REFERENCES_OF_MARKS = `
UPDATE flaggable_wins f SET free_spins_ref = w.free_spins_ref
  FROM (SELECT m.provider_id, m.transaction_id,
               (SELECT t.free_spins_ref FROM transactions t
                 WHERE t.provider_id = m.provider_id AND t.transaction_id = m.transaction_id) AS free_spins_ref
          FROM flaggable_wins m WHERE m.free_spins_ref IS NULL OFFSET 0) w
 WHERE f.provider_id = w.provider_id AND f.transaction_id = w.transaction_id AND w.free_spins_ref IS NOT NULL
`;
