import { expect, test } from 'vitest';
import { addressOf, pageOf, withQuery } from './addresses.ts';

test.each([
  ['/v1/admin/transactions/acme/bet%2F1', '/console/transactions/acme/bet%2F1'],
  ['/v1/admin/rounds/acme/round-7', '/console/rounds/acme/round-7'],
  ['/v1/admin/rounds?providerId=acme&open=true', '/console/rounds?providerId=acme&open=true'],
  ['/v1/admin/sessions?playerRef=player%2042', '/console/players/player%2042'],
  ['/v1/admin/sessions/0b7c3c1e', '/console/sessions/0b7c3c1e'],
  ['/v1/admin/free-spins/batches/0b7c3c1e', '/console/free-spins/batches/0b7c3c1e'],
  ['/v1/admin/reconciliations/0b7c3c1e', '/console/reconciliation/0b7c3c1e'],
  ['/v1/admin/callbacks/17', '/console/callbacks/17'],
  ['/v1/admin/callbacks?reference=promo-1', undefined],
  ['/v1/admin/audit?requestId=r-1', '/console/audit?requestId=r-1'],
  ['/v1/admin/keys/0b7c3c1e', undefined],
  ['https://elsewhere.example/v1/admin/audit', undefined],
])('%s is shown at %s', (href, page) => {
  expect(pageOf(href)).toBe(page);
});

test('each part of an address is encoded', () => {
  expect(addressOf.transaction('acme', 'bet/1?#%')).toBe('/console/transactions/acme/bet%2F1%3F%23%25');
});

test.each(['.', '..'])('the browser does not resolve the id %s as a part of the path', (id) => {
  const address = addressOf.player(id);
  expect(new URL(address, 'http://console').pathname).toBe(address);
});

test('a query has only what is given', () => {
  expect(withQuery('/console/audit', { actor: '', action: undefined })).toBe('/console/audit');
  expect(withQuery('/console/audit', { actor: 'a&b', action: '' })).toBe('/console/audit?actor=a%26b');
});
