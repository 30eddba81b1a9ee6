// Run by: croupier-provider certify-client -- node certify-client.mjs
// Sends the transaction in CROUPIER_BET, CROUPIER_WIN or CROUPIER_ROLLBACK, with retries, and prints the verdict.
import { isCroupierError, ProviderClient } from '@croupier/provider-sdk';

const { CROUPIER_BASE_URL, CROUPIER_TENANT, CROUPIER_SECRET, CROUPIER_TIMEOUT_MS } = process.env;
const { CROUPIER_BET, CROUPIER_WIN, CROUPIER_ROLLBACK } = process.env;
const platform = new ProviderClient({
  baseUrl: CROUPIER_BASE_URL ?? '',
  tenantId: CROUPIER_TENANT ?? '',
  secret: CROUPIER_SECRET ?? '',
});

try {
  const transaction = JSON.parse(CROUPIER_BET ?? CROUPIER_WIN ?? CROUPIER_ROLLBACK ?? '');
  const options = { retry: true, maxAttempts: 4, timeoutMs: Number(CROUPIER_TIMEOUT_MS) };
  const send = CROUPIER_BET ? platform.bet : CROUPIER_WIN ? platform.win : platform.rollback;
  const { status } = await send.call(platform, transaction, options);
  console.log(status === 'APPROVED' ? 'approved' : 'declined');
} catch (error) {
  console.log(isCroupierError(error) ? error.outcome : 'unknown');
}
