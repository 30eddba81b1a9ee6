import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { failureText } from '../../src/runtime/failure-text.js';

test('names the code of a connection that every address of a host refuses', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  const socket = connect({
    host: 'database.test',
    port,
    autoSelectFamily: true,
    lookup: (_host, _options, found) => found(null, addresses),
  });
  const [error] = (await once(socket, 'error')) as [Error];
  expect(error).toMatchObject({ message: '', code: 'ECONNREFUSED' });
  expect(failureText(error)).toBe('ECONNREFUSED');
});

test('prefers the message, and accepts whatever was thrown', () => {
  expect(failureText(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))).toBe('reset');
  expect(failureText('a word')).toBe('a word');
  expect(failureText(undefined)).toBe('undefined');
});
