import {
  type BatchReference,
  type BatchStatus,
  CallbackRefusal,
  type Grant,
  type Revocation,
} from '@croupier/provider-sdk';

interface Batch extends Grant {
  externalRef: string;
  remainingSpins: number;
}

/**
 * Keeps a provider's free spins in the memory of one process. In production, use a database with a unique column for
 * requestRef, so that a grant that arrives twice concurrently is booked once.
 */
export class FreeSpins {
  private readonly batches = new Map<string, Batch>();
  private readonly externalRefByRequestRef = new Map<string, string>();
  readonly endedSessions = new Set<string>();

  onGrant(grant: Grant): { externalRef: string } {
    const known = this.externalRefByRequestRef.get(grant.requestRef);
    if (known !== undefined) return { externalRef: known };
    const externalRef = `batch-${this.batches.size + 1}`;
    this.batches.set(externalRef, { ...grant, externalRef, remainingSpins: grant.spins });
    this.externalRefByRequestRef.set(grant.requestRef, externalRef);
    return { externalRef };
  }

  onStatus(reference: BatchReference): BatchStatus {
    const { remainingSpins } = this.batch(reference);
    return { remainingSpins, completed: remainingSpins === 0 };
  }

  onPlay(reference: BatchReference): BatchStatus {
    const batch = this.batch(reference);
    if (batch.remainingSpins === 0) throw new CallbackRefusal(409, 'no spin is left');
    batch.remainingSpins -= 1;
    return this.onStatus(reference);
  }

  onCancel(reference: BatchReference): void {
    this.batch(reference).remainingSpins = 0;
  }

  onRevoke({ sessionId }: Revocation): void {
    this.endedSessions.add(sessionId);
  }

  private batch({ externalRef, playerRef, gameId }: BatchReference): Batch {
    const batch = this.batches.get(externalRef);
    if (batch?.playerRef === playerRef && batch.gameId === gameId) return batch;
    throw new CallbackRefusal(404, 'this player has no such batch in this game');
  }
}
