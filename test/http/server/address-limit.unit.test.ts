import express from 'express';
import { expect, test } from 'vitest';
import { AddressLimit } from '../../../src/server/address-limit.js';
import { trustOf } from '../../../src/server/client-address.js';

/** How many of five connections of each address are admitted with a bound of two. */
function admitted(trustProxy: string[], ...addresses: string[]): number {
  const limit = new AddressLimit(2, trustOf(express().set('trust proxy', trustProxy)));
  return addresses.flatMap((address) => Array.from({ length: 5 }, () => limit.enter(address))).filter(Boolean)
    .length;
}

test.each([
  ['an IPv4 address', ['192.0.2.1']],
  ['an IPv4 address and the same one mapped into IPv6', ['192.0.2.1', '::ffff:192.0.2.1']],
  ['the addresses of an IPv6 /64', ['2001:db8::1', '2001:db8::ffff:1']],
])('%s may have as many connections as the bound', (_, addresses) => {
  expect(admitted([], ...addresses)).toBe(2);
});

test.each([
  ['two IPv4 addresses', ['192.0.2.1', '192.0.2.2']],
  ['two IPv6 /64', ['2001:db8::1', '2001:db8:0:1::1']],
])('%s are counted separately', (_, addresses) => expect(admitted([], ...addresses)).toBe(4));

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1', '::ffff:192.0.2.1'],
  ['192.0.2.0/24', '192.0.2.77'],
  ['2001:db8::/32', '2001:db8:1::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['loopback', '127.0.0.9'],
  ['loopback', '::1'],
  ['loopback', '::ffff:127.0.0.1'],
  ['linklocal', '169.254.1.1'],
  ['linklocal', 'fe80::1'],
  ['uniquelocal', '10.1.1.1'],
  ['uniquelocal', '172.31.0.1'],
  ['uniquelocal', '192.168.0.1'],
  ['uniquelocal', 'fd00::1'],
])('TRUST_PROXY=%s exempts %s', (entry, address) => expect(admitted([entry], address)).toBe(5));

test.each([
  ['192.0.2.0/24', '192.0.3.1'],
  ['uniquelocal', '172.32.0.1'],
  ['loopback', '2001:db8::1'],
])('TRUST_PROXY=%s does not exempt %s', (entry, address) => expect(admitted([entry], address)).toBe(2));

test('a connection that ends makes room for another', () => {
  const limit = new AddressLimit(1, () => false);
  const leave = limit.enter('192.0.2.1')!;
  expect(limit.enter('192.0.2.1')).toBeUndefined();
  leave();
  expect(limit.enter('192.0.2.1')).toBeDefined();
});
