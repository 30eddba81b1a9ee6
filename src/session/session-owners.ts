import { Injectable } from '@nestjs/common';

/** Maximum number of remembered sessions, which take about 12 MB. Above it, the oldest is forgotten. */
const MAX_SESSIONS = 100_000;

/** The operator of a session and the session's mode, which never change. */
interface SessionOwner {
  readonly operatorId: string;
  readonly sessionId: string;
  readonly mode: 'REAL' | 'DEMO';
}

/** Finds the operator of a session that this instance has seen, without a query. */
@Injectable()
export class SessionOwners {
  /** Keyed by the SHA-256 of the session token, in order of insertion. */
  private readonly owners = new Map<string, SessionOwner>();

  remember(tokenHash: Buffer, { operatorId, sessionId, mode }: SessionOwner): void {
    const key = keyOf(tokenHash);
    if (this.owners.has(key)) return;
    this.owners.set(key, { operatorId, sessionId, mode });
    if (this.owners.size > MAX_SESSIONS) this.owners.delete(this.owners.keys().next().value!);
  }

  find(tokenHash: Buffer): SessionOwner | undefined {
    return this.owners.get(keyOf(tokenHash));
  }
}

/** The hash as a Latin-1 string, with one character per byte. Hexadecimal digits would need twice the memory. */
function keyOf(tokenHash: Buffer): string {
  return tokenHash.toString('latin1');
}
