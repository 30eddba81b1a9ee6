import { OperatorWalletServer } from '../../src/sandbox/operator-wallet.server.js';
import { ProviderServer } from '../../src/sandbox/provider.server.js';
import { temporaryFolder } from '../world/temporary-folder.js';

/** The sandbox's operator wallet and provider without a service beside them. They trust calls signed with this secret. */
export async function startCounterparts(secret: string) {
  const folder = await temporaryFolder();
  const options = { folder: folder.path, port: 0, log: () => undefined };
  const wallet = await OperatorWalletServer.start({ ...options, tenantId: 'operator' });
  const provider = await ProviderServer.start({ ...options, tenantId: 'provider' });
  wallet.trust(secret);
  provider.trust(secret);
  return {
    wallet,
    provider,
    async stop(): Promise<void> {
      await wallet.stop();
      await provider.stop();
      await folder.remove();
    },
  };
}
