import { sha256 } from '../../runtime/digest.js';
import type { TransactionRequest } from '../rules/facts.js';
import { PLATFORM_ID_PREFIX } from '../rules/platform-id.js';
import type { TransactionKey } from '../transaction.js';

/** The BET that a ROLLBACK of the platform ends. */
type EndedBet = TransactionKey & Pick<TransactionRequest, 'playerRef' | 'gameId' | 'currency' | 'roundId'>;

/** Length of the digest in the id, in hex digits: 128 bits. Contract, section 3. */
const DIGITS = 32;

/**
 * The id of the ROLLBACK with which the platform ends a BET: `croupier-` and the first 32 hex digits, lower case, of
 * the SHA-256 over the BET's key. The key's bytes are the UTF-8 of providerId, one line feed (0x0A), and transactionId;
 * neither can contain a line feed. Every process derives the same id.
 * @param ordinal how many of these ROLLBACKs the operator has DECLINED; if it is above 0, a line feed and this number
 *   in decimal follow the key
 */
export function platformRollbackId({ providerId, transactionId }: TransactionKey, ordinal: number): string {
  const key = [providerId, transactionId, ...(ordinal > 0 ? [ordinal] : [])].join('\n');
  return PLATFORM_ID_PREFIX + sha256(key).toString('hex').slice(0, DIGITS);
}

/** The platform's ROLLBACK of a BET, in the form of a provider's request. */
export function platformRollback(bet: EndedBet, ordinal: number): TransactionRequest {
  const { transactionId: originalTransactionId, playerRef, gameId, currency, roundId } = bet;
  const transactionId = platformRollbackId(bet, ordinal);
  return { transactionId, kind: 'ROLLBACK', originalTransactionId, playerRef, gameId, currency, roundId };
}
