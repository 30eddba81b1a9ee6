import { expect, test } from 'vitest';
import { clientAddress } from '../../../src/server/client-address.js';

const PROXY = '10.0.0.1';
const isTrusted = (address: string) => address.startsWith('10.') || address === '::ffff:10.0.0.9';

test.each([
  [undefined, PROXY],
  ['203.0.113.8', '203.0.113.8'],
  ['203.0.113.8:40000', '203.0.113.8'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[::ffff:203.0.113.8]:443', '::ffff:203.0.113.8'],
  ['198.51.100.1, 203.0.113.8:40000', '203.0.113.8'],
  ['198.51.100.1:1,203.0.113.8:2 , 10.0.0.2:3', '203.0.113.8'],
  ['203.0.113.8, ::ffff:10.0.0.9', '203.0.113.8'],
  ['10.0.0.3:1, 10.0.0.2:2', '10.0.0.3'],
  ['', PROXY],
  ['unknown', PROXY],
  ['_hidden:7', PROXY],
  ['203.0.113.8:', PROXY],
  ['203.0.113.8:port', PROXY],
  ['203.0.113.8:123456', PROXY],
  ['[203.0.113.8]:1', PROXY],
  ['203.0.113', PROXY],
  ['1', PROXY],
  ['\u202e203.0.113.8', PROXY],
  ['203.0.113.8,', PROXY],
  ['203.0.113.8, unknown', PROXY],
  ['203.0.113.8, unknown, 10.0.0.2', PROXY],
])('behind a proxy, %j is a request of %s', (forwardedFor, address) => {
  expect(clientAddress(PROXY, forwardedFor, isTrusted)).toBe(address);
});

test.each([
  ['203.0.113.1', '198.51.100.1', '203.0.113.1'],
  [undefined, '198.51.100.1', undefined],
])('%s is not asked where a request came from', (peer, forwardedFor, address) => {
  expect(clientAddress(peer, forwardedFor, isTrusted)).toBe(address);
});
