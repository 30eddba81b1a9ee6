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
  /** Whether it was expired or revoked when it was read, by the database's clock. */
  readonly ended: boolean;
}
