/**
 * The SQL condition that a session was revoked or has expired. The database's clock sets and checks the expiry, so that
 * all instances agree.
 * @param session alias of the table `sessions`
 */
export const ended = (session: string) =>
  `(${session}.revoked_at IS NOT NULL OR ${session}.expires_at <= statement_timestamp())`;

/** Seconds since a session ended, never negative; null while it is live. */
export const endedSecondsAgo = (session: string) => `
  CASE WHEN ${ended(session)}
       THEN greatest(0, extract(epoch FROM statement_timestamp() - least(${session}.expires_at, ${session}.revoked_at)))::float8
       END`;
