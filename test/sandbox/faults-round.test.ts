import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { playFaults } from '../../src/demo/faults.round.js';

const WALLET_URL = 'http://127.0.0.1:2/wallet';

/** The answers of a service, as far as the round gets without counterparts. */
const ANSWERS: Readonly<Record<string, [status: number, answer: object]>> = {
  '/v1/admin/operators/operator': [200, { id: 'operator', walletBaseUrl: WALLET_URL }],
  '/v1/operator/sessions': [201, { gameId: 'sandbox-slots', mode: 'REAL', sessionToken: 'token' }],
  '/v1/wallet/balance': [200, { balance: 1000 }],
};

test('a failed step is reported even if its rules cannot be removed any more', async () => {
  const service = createServer((request, response) => {
    const [status, answer] = ANSWERS[request.url ?? ''] ?? [404, {}];
    response.writeHead(status).end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  onTestFinished(() => {
    service.close();
    service.closeAllConnections();
  });
  const sandbox = {
    apiUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    docsUrl: '',
    walletUrl: WALLET_URL,
    providerUrl: WALLET_URL,
    adminApiKey: 'key',
    provider: { id: 'provider', secret: 'secret' },
    operator: { id: 'operator', secret: 'secret' },
    games: [],
  };
  const played = playFaults(sandbox, { print: () => undefined, colours: false });
  await expect(played).rejects.toThrow('Nothing answers at http://127.0.0.1:2: start the service');
});
