/**
 * The fields of each signed body, in the order in which the OpenAPI documents declare them. A class with these fields is
 * serialised in this order, and a serialiser may write its empty fields as null.
 */
export const CONTRACT_FIELDS: readonly (readonly string[])[] = [
  'sessionToken transactionId kind playerRef gameId currency amountMinor roundId roundClosed originalTransactionId freeSpinsRef winKind promotionRef',
  'transactionId providerId kind playerRef gameId currency amountMinor roundId roundClosed originalTransactionId freeSpinsRef winKind promotionRef',
  'requestRef playerRef gameId spins betAmountMinor currency',
  'externalRef playerRef gameId',
  'revocationRef sessionId playerRef gameId reason revokedAt',
  'playerRef gameId currency mode ttlSeconds language country maxBetMinor jurisdiction realityCheckSeconds',
  'gameId spins betAmountMinor currency expiresAt playerRef requestRef',
  'gameId spins betAmountMinor currency expiresAt playerRefs batchRef',
  'sessionToken',
  'playerRef currency',
  'reason',
  'includeUnknown',
].map((fields) => fields.split(' '));

/** The bodies that may have these fields. */
export function bodiesWith(names: readonly string[]): (readonly string[])[] {
  return CONTRACT_FIELDS.filter((fields) => names.every((name) => fields.includes(name)));
}
