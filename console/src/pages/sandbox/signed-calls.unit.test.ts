import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { sign } from './signed-calls.ts';

test('a call is signed over its method, path, timestamp, nonce and body', async () => {
  const call = { path: '/v1/wallet/transaction', body: '{"playerRef":"zoë"}' };
  const { signedText, headers } = await sign({ id: 'acme', secret: 'a secret' }, call, {
    timestamp: '1767247200',
    nonce: 'n-1',
  });
  expect(signedText).toBe('POST\n/v1/wallet/transaction\n1767247200\nn-1\n{"playerRef":"zoë"}');
  expect(headers).toEqual({
    'X-Tenant-ID': 'acme',
    'X-Timestamp': '1767247200',
    'X-Nonce': 'n-1',
    'X-Signature': createHmac('sha256', 'a secret').update(signedText).digest('hex'),
  });
});
