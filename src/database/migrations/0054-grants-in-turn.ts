import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the indexes by which the unsent grants and the due cancels of a provider are sent operator by operator in turn,
 * and by which unsent grants that have expired are found. They are created concurrently, so that grants can be
 * recorded meanwhile.
 *
 * The next release can drop the index free_spin_grants_unsent, by which the previous release claims grants.
 */
export class GrantsInTurn1764000000054 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES)) {
      await indexConcurrently(runner, name, `free_spin_grants ${definition}`);
    }
  }
}

const INDEXES = {
  free_spin_grants_unsent_in_turn: `(provider_id, operator_id, grant_no)
     WHERE state = 'PENDING' AND lease_until IS NULL`,
  free_spin_grants_to_cancel_in_turn: `(provider_id, operator_id, grant_no) WHERE state = 'GRANTED' AND cancel_due`,
  free_spin_grants_unsent_expiring: `(expires_at)
     WHERE state = 'PENDING' AND lease_until IS NULL AND expires_at IS NOT NULL`,
};
