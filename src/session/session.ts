/** A player's session with one game of one provider. Contract, section 5. */
export interface Session {
  readonly sessionId: string;
  readonly operatorId: string;
  readonly providerId: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly currency: string;
  readonly mode: 'REAL' | 'DEMO';
  readonly language: string | null;
  readonly country: string | null;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
}

/** When the session ended, if it did: at its expiry or at its revocation, whichever came first. */
export function endOf(session: Session, now: Date): Date | undefined {
  const { expiresAt, revokedAt } = session;
  const end = revokedAt !== null && revokedAt < expiresAt ? revokedAt : expiresAt;
  return end <= now ? end : undefined;
}
