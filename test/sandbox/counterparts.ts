import { signRequest } from '@croupier/provider-sdk';
import { randomUUID } from 'node:crypto';
import { OperatorWalletServer } from '../../src/sandbox/operator-wallet.server.js';
import { ProviderServer } from '../../src/sandbox/provider.server.js';
import { temporaryFolder } from '../world/temporary-folder.js';

const BET = { providerId: 'provider', kind: 'BET', playerRef: 'player', gameId: 'game', roundId: 'round' };
const TRANSACTION_PATH = '/wallet/transaction';

/** Fields of the body, and how the call deviates from the usual one. */
type Fields = Record<string, unknown> & { headers?: object; timeoutMs?: number };

/** The sandbox's operator wallet and provider without a service beside them. They trust calls signed with this secret. */
export async function startCounterparts(secret: string) {
  const folder = await temporaryFolder();
  const options = { folder: folder.path, port: 0, log: () => undefined };
  const wallet = await OperatorWalletServer.start({ ...options, tenantId: 'operator' });
  const provider = await ProviderServer.start({ ...options, tenantId: 'provider' });
  wallet.trust(secret);
  provider.trust(secret);
  const walletOrigin = new URL(wallet.baseUrl).origin;

  const sign = (tenantId: string, path: string, body: string) =>
    signRequest({
      method: 'POST',
      path,
      body,
      tenantId,
      secret,
      nonce: randomUUID(),
      now: Date.now() / 1000,
    });

  /**
   * A signed call.
   * @throws if there is no answer within the time-out
   */
  async function call(
    origin: string,
    tenantId: string,
    path: string,
    { headers = {}, timeoutMs = 5_000, ...fields }: Fields,
  ) {
    const body = JSON.stringify(fields);
    const response = await fetch(origin + path, {
      method: 'POST',
      headers: { ...sign(tenantId, path, body), ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: response.status, text: await response.text() };
  }

  const orderOf = (transactionId: string, fields: Fields) => ({
    ...BET,
    transactionId,
    currency: 'EUR',
    amountMinor: 100,
    ...fields,
  });

  return {
    wallet,
    provider,
    walletOrigin,
    /** Books a BET of 1.00 EUR, unless the fields say otherwise. */
    bet: (transactionId: string, fields: Fields = {}) =>
      call(walletOrigin, 'operator', TRANSACTION_PATH, orderOf(transactionId, fields)),
    /** The same call as the bytes of its request. */
    rawBet(transactionId: string): string {
      const body = JSON.stringify(orderOf(transactionId, {}));
      return rawRequest(TRANSACTION_PATH, sign('operator', TRANSACTION_PATH, body), body);
    },
    rawBalance(headers: object): string {
      const path = '/wallet/balance';
      const body = JSON.stringify({ playerRef: 'player', currency: 'EUR' });
      return rawRequest(path, { ...sign('operator', path, body), ...headers }, body);
    },
    callback: (route: string, fields: object, headers: object = {}) =>
      call(provider.baseUrl, 'provider', `/v1/game/${route}`, { ...fields, headers }),
    /** The player's balance, in minor units. */
    async balance(playerRef = 'player', timeoutMs = 5_000): Promise<number> {
      const account = { playerRef, currency: 'EUR' };
      const { text } = await call(walletOrigin, 'operator', '/wallet/balance', { ...account, timeoutMs });
      return (JSON.parse(text) as { balance: number }).balance;
    },
    async stop(): Promise<void> {
      await wallet.stop();
      await provider.stop();
      await folder.remove();
    },
  };
}

function rawRequest(path: string, headers: object, body: string): string {
  const lines = Object.entries({ ...headers, Host: 'sandbox', 'Content-Length': Buffer.byteLength(body) });
  const head = lines.map(([name, value]) => `${name}: ${String(value)}\r\n`).join('');
  return `POST ${path} HTTP/1.1\r\n${head}\r\n${body}`;
}

export async function setRules(origin: string, ...rules: object[]) {
  const response = await fetch(`${origin}/sandbox/faults`, {
    method: 'PUT',
    body: JSON.stringify({ rules }),
  });
  return { status: response.status, json: (await response.json()) as { rules?: object[]; error?: string } };
}

export async function rulesOf(origin: string): Promise<object[]> {
  return ((await (await fetch(`${origin}/sandbox/faults`)).json()) as { rules: object[] }).rules;
}
