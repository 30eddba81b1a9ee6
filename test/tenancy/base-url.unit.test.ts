import { describe, expect, test } from 'vitest';
import { isPublicAddress } from '../../src/outbound/address.js';
import { checkBaseUrl, normalisedBaseUrl } from '../../src/outbound/base-url.js';

describe('a public address', () => {
  test.each([
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '::ffff:8.8.8.8',
    '2606:4700::1111',
  ])('%s is public', (ip) => expect(isPublicAddress(ip)).toBe(true));

  test.each([
    ['unspecified', '0.0.0.0'],
    ['"this" network', '0.1.2.3'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '192.168.1.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['loopback', '127.255.255.254'],
    ['link-local, cloud metadata', '169.254.169.254'],
    ['documentation', '203.0.113.7'],
    ['benchmarking', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['IPv4-compatible', '::7f00:1'],
    ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
    ['IPv4-mapped private, in hex', '::ffff:a00:1'],
    ['IPv4-translated', '::ffff:0:127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001::1'],
    ['unique local', 'fd00::1'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['documentation', '2001:db8::1'],
    ['multicast', 'ff02::1'],
    ['unallocated', '4000::1'],
    ['not an address', 'localhost'],
    ['not an address', ''],
    ['not as a resolver writes it', '0x7f.1'],
  ])('%s is not public: %s', (_, ip) => expect(isPublicAddress(ip)).toBe(false));
});

describe('a base address', () => {
  test.each([
    'https://rgs.example',
    'https://rgs.example/',
    'https://rgs.example:8443/base/path/',
    'https://8.8.8.8/x',
    'https://[2606:4700::1111]/',
    'HTTPS://RGS.example',
  ])('is accepted: %s', (url) => expect(checkBaseUrl(url, false)).toBeUndefined());

  test.each([
    ['http://rgs.example', 'must begin with https://'],
    ['ftp://rgs.example', 'absolute https address'],
    ['rgs.example', 'absolute https address'],
    ['https:rgs.example', 'absolute https address'],
    ['https://', 'must have a host'],
    ['https:///wallet', 'must have a host'],
    ['https://:443/wallet', 'must have a host'],
    ['https://user@/wallet', 'must have a host'],
    ['https://?a', 'must have a host'],
    ['https://rgs.example:0', 'port 0'],
    ['https://rgs.example:00000/wallet', 'port 0'],
    ['https://rgs.example:65536', 'absolute https address'],
    ['', 'absolute https address'],
    [' https://rgs.example', 'absolute https address'],
    ['https://rgs.example/a\nb', 'absolute https address'],
    [`https://rgs.example/${'x'.repeat(2048)}`, 'absolute https address'],
    ['https://rgs.example\\@evil.example', 'backslash'],
    ['https://user@rgs.example', 'credentials'],
    ['https://:password@rgs.example', 'credentials'],
    ['https://rgs.example?a=b', 'query or a fragment'],
    ['https://rgs.example/?', 'query or a fragment'],
    ['https://rgs.example/#', 'query or a fragment'],
    ['https://127.0.0.1', 'loopback'],
    ['https://2130706433/', 'loopback'],
    ['https://0x7f000001/', 'loopback'],
    ['https://0177.0.0.1/', 'loopback'],
    ['https://127.1/', 'loopback'],
    ['https://127.0.0.1./', 'loopback'],
    ['https://10.1.2.3:9000/x', 'private'],
    ['https://169.254.169.254/latest', 'link-local'],
    ['https://[::1]/', 'loopback'],
    ['https://[::ffff:10.0.0.1]/', 'private'],
    ['https://[fd00::1]/', 'private'],
    ['https://localhost:3000', 'loopback'],
    ['https://wallet.localhost.', 'loopback'],
  ])('is refused: %s', (url, reason) => expect(checkBaseUrl(url, false)).toContain(reason));

  test.each(['http://rgs.example', 'https://10.1.2.3', 'https://localhost', 'https://[::1]'])(
    'is refused with the name of the variable that would allow it: %s',
    (url) => expect(checkBaseUrl(url, false)).toContain('OUTBOUND_ALLOW_PRIVATE'),
  );

  test.each(['http://rgs.example', 'http://127.0.0.1:4000', 'http://localhost:4000/x', 'https://[::1]/'])(
    'may be %s where private addresses are allowed',
    (url) => expect(checkBaseUrl(url, true)).toBeUndefined(),
  );

  test.each([
    'http:///x',
    'http://:80',
    'http://127.0.0.1:0',
    'http://user@127.0.0.1',
    'http://127.0.0.1/?q',
  ])('may not be %s even there', (url) => expect(checkBaseUrl(url, true)).toBeDefined());

  test.each(['ftp://127.0.0.1', 'file:///etc/passwd'])(
    'is refused there with the protocols that are allowed: %s',
    (url) => expect(checkBaseUrl(url, true)).toContain('absolute http or https address'),
  );

  test.each([
    ['https://rgs.example/', 'https://rgs.example'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['https://rgs.example/base//', 'https://rgs.example/base'],
    ['https://rgs.example/a/../b/', 'https://rgs.example/b'],
  ])('is stored in one spelling: %s as %s', (url, stored) => expect(normalisedBaseUrl(url)).toBe(stored));
});
