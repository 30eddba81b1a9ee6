import { expect, test } from 'vitest';
import type { Schema } from '../../api/schemas.ts';
import { amountText, failureOf, mayStillChange, outcomePage } from './kinds.ts';

type Approval = Schema<'ApprovalResponse'>;

const approved = (kind: Approval['kind'], reference: string, result: object | undefined) =>
  ({ kind, reference, result, operatorId: 'lucky', currency: 'EUR' }) as unknown as Approval;

const UNCONFIRMED =
  'Approved, but not confirmed: no answer. It may still be carried out: see its page before you ask for it again.';

test.each([
  { kind: 'adjustment', result: { status: 'APPROVED' }, failure: undefined },
  {
    kind: 'adjustment',
    result: { status: 'DECLINED', declineReason: 'INSUFFICIENT_FUNDS' },
    failure: 'Approved, but the operator declined it (INSUFFICIENT_FUNDS): no money moved.',
  },
  { kind: 'adjustment', result: { error: 'no answer' }, failure: UNCONFIRMED },
  { kind: 'grant', result: { error: 'no answer' }, failure: UNCONFIRMED },
  { kind: 'grant', result: { state: 'GRANTED' }, failure: undefined },
  {
    kind: 'grant',
    result: { state: 'PENDING' },
    failure: 'Approved, but not confirmed yet: the provider has not answered.',
  },
  {
    kind: 'limit',
    result: { error: 'the limits have changed' },
    failure: 'Approved, but it could not be carried out: the limits have changed.',
  },
  { kind: 'settlement', result: { status: 'DECLINED' }, failure: undefined },
  { kind: 'batch', result: undefined, failure: undefined },
] as const)('the outcome of a $kind with the result $result', ({ kind, result, failure }) => {
  expect(failureOf(approved(kind, 'a/b', result))).toBe(failure);
});

test.each([
  { kind: 'adjustment', result: { error: 'no answer' }, open: true },
  { kind: 'adjustment', result: { status: 'DECLINED' }, open: false },
  { kind: 'grant', result: { error: 'no answer' }, open: true },
  { kind: 'grant', result: { state: 'PENDING' }, open: true },
  { kind: 'grant', result: { state: 'GRANTED' }, open: false },
  { kind: 'limit', result: { error: 'the limits have changed' }, open: false },
  { kind: 'grant', result: undefined, open: false },
] as const)('a $kind with the result $result may still change: $open', ({ kind, result, open }) => {
  expect(mayStillChange(approved(kind, 'a/b', result))).toBe(open);
});

test.each([
  { kind: 'grant', result: undefined, page: undefined },
  { kind: 'grant', result: { error: 'no answer' }, page: '/console/free-spins/ref-1' },
  { kind: 'adjustment', result: { error: 'no answer' }, page: '/console/transactions/platform/ref-1' },
  { kind: 'batch', result: { error: 'the game has moved' }, page: undefined },
  { kind: 'batch', result: { batchId: 'b-1' }, page: '/console/free-spins/batches/b-1' },
] as const)('the page of a $kind with the result $result', ({ kind, result, page }) => {
  expect(outcomePage(approved(kind, 'ref-1', result))).toBe(page);
});

test.each([
  { amounts: { stakeMinor: 250 }, text: '2.50 EUR' },
  { amounts: { stakeMinor: 0 }, text: 'a stake that the provider chooses' },
  { amounts: { amountMinor: -250 }, text: '-2.50 EUR' },
  { amounts: { amountMinor: 0 }, text: '0.00 EUR' },
  { amounts: { kind: 'settlement', amountMinor: 0 }, text: undefined },
  { amounts: { kind: 'settlement', amountMinor: 250 }, text: '2.50 EUR' },
  { amounts: {}, text: undefined },
])('the amount of $amounts is $text', ({ amounts, text }) => {
  expect(amountText({ ...amounts, currency: 'EUR' } as unknown as Approval)).toBe(text);
});
