import { expect, test } from 'vitest';
import { causePage, grantsPage } from './causes.ts';

const BATCH = '0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11';
const failed = `/v1/admin/free-spins?batchId=${BATCH}&state=FAILED`;
const expired = `/v1/admin/free-spins?batchId=${BATCH}&state=GRANTED`;

test.each([
  {
    item: { kind: 'transaction', subject: 'acme/bet-1', href: '/v1/admin/transactions/acme/bet-1' },
    page: '/console/transactions/acme/bet-1',
  },
  {
    item: { kind: 'grant', subject: 'promo/expiry', href: '/v1/admin/free-spins/promo%2Fexpiry' },
    page: '/console/free-spins/promo%2Fexpiry',
  },
  {
    item: { kind: 'grant', subject: BATCH, count: 12, href: failed },
    page: `/console/free-spins/batches/${BATCH}`,
    grants: `/console/free-spins?batchId=${BATCH}&state=FAILED`,
  },
  {
    item: { kind: 'grant', subject: `${BATCH}/expiry`, count: 1, href: expired },
    page: `/console/free-spins/batches/${BATCH}`,
    grants: `/console/free-spins?batchId=${BATCH}&state=GRANTED`,
  },
  {
    item: { kind: 'grant', subject: `${BATCH}/cancel`, count: 1, href: expired },
    page: `/console/free-spins/batches/${BATCH}`,
    grants: `/console/free-spins?batchId=${BATCH}&state=GRANTED`,
  },
  {
    item: { kind: 'round', subject: 'acme/lucky', count: 3, href: '/v1/admin/rounds?open=true' },
    page: '/console/rounds?open=true',
  },
  { item: { kind: 'reconciliation', subject: 'lucky/bet-1' }, page: undefined },
] as const)('$item.kind $item.subject is about $page', ({ item, page, ...rest }) => {
  expect(causePage(item)).toBe(page);
  expect(grantsPage(item)).toBe('grants' in rest ? rest.grants : undefined);
});
