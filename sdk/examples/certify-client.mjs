// The command of: croupier-provider certify-client -- node certify-client.mjs
// Sends the BET of the environment with retries, and prints what a game would conclude from the answer.
import { isCroupierError, ProviderClient } from '@croupier/provider-sdk';

const { CROUPIER_BASE_URL, CROUPIER_TENANT, CROUPIER_SECRET, CROUPIER_TIMEOUT_MS, CROUPIER_BET } =
  process.env;
const platform = new ProviderClient({
  baseUrl: CROUPIER_BASE_URL ?? '',
  tenantId: CROUPIER_TENANT ?? '',
  secret: CROUPIER_SECRET ?? '',
});

try {
  const bet = JSON.parse(CROUPIER_BET ?? '');
  const options = { retry: true, maxAttempts: 4, timeoutMs: Number(CROUPIER_TIMEOUT_MS) };
  const { status } = await platform.bet(bet, options);
  console.log(status === 'APPROVED' ? 'approved' : 'declined');
} catch (error) {
  console.log(isCroupierError(error) ? error.outcome : 'unknown');
}
