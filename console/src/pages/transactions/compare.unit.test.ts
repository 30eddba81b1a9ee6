import { expect, test } from 'vitest';
import type { Schema } from '../../api/schemas.ts';
import { comparisonOf } from './compare.ts';

type Detail = Schema<'TransactionDetail'>;

const AT = '2026-01-31T06:00:00.000Z';
const told = (text: string): Detail['timeline'][number] => ({ at: AT, event: 'provider-told', text });
const attempt = (outcome: 'APPROVED' | 'DECLINED' | 'OPERATOR_TIMED_OUT', balance?: number) => ({
  attempt: 1,
  outcome,
  ...(balance !== undefined && { balance }),
});

function detail(fields: Partial<Detail>): Detail {
  return {
    providerId: 'acme',
    transactionId: 'bet-1',
    platformTransactionId: '0b7c3c1e-52a1-4c0b-9d1f-6f1f0c1d2e3f',
    kind: 'BET',
    state: 'APPROVED',
    operatorId: 'lucky',
    mode: 'REAL',
    playerRef: 'player-42',
    amountMinor: 250,
    currency: 'EUR',
    attempt: 1,
    createdAt: AT,
    updatedAt: AT,
    operatorRequest: { route: '/transaction', body: {} },
    attempts: [],
    rollback: null,
    timeline: [],
    advice: { action: 'none', text: '' },
    ...fields,
  };
}

const ROLLBACK = detail({ transactionId: 'rollback-1', kind: 'ROLLBACK', balance: 1_000 });

test.each<{ name: string; of: Partial<Detail>; outcome: readonly (string | undefined)[]; differs: boolean }>([
  {
    name: 'all agree that it is approved',
    of: { attempts: [attempt('APPROVED', 750)], timeline: [told('200 APPROVED, balance 7.50 EUR')] },
    outcome: ['APPROVED', 'APPROVED', 'APPROVED'],
    differs: false,
  },
  {
    name: 'it is undecided for all',
    of: {
      state: 'TIMED_OUT',
      attempts: [attempt('OPERATOR_TIMED_OUT')],
      timeline: [told('500 OPERATOR_TIMED_OUT')],
    },
    outcome: ['500 OPERATOR_TIMED_OUT', 'TIMED_OUT', 'OPERATOR_TIMED_OUT'],
    differs: false,
  },
  {
    name: 'the provider does not know that it is approved',
    of: { attempts: [attempt('APPROVED')], timeline: [told('500 OPERATOR_TIMED_OUT')] },
    outcome: ['500 OPERATOR_TIMED_OUT', 'APPROVED', 'APPROVED'],
    differs: true,
  },
  {
    name: 'the provider has learnt it by a repetition',
    of: {
      attempts: [attempt('APPROVED')],
      timeline: [
        told('500 OPERATOR_TIMED_OUT'),
        told('200 APPROVED, balance 7.50 EUR, when it was sent again'),
      ],
    },
    outcome: ['APPROVED', 'APPROVED', 'APPROVED'],
    differs: false,
  },
  {
    name: 'the provider has rolled it back',
    of: {
      state: 'ROLLED_BACK',
      attempts: [attempt('APPROVED')],
      timeline: [told('200 APPROVED, balance 7.50 EUR')],
      rollback: ROLLBACK,
    },
    outcome: ['ROLLED_BACK', 'ROLLED_BACK', 'ROLLED_BACK'],
    differs: false,
  },
  {
    name: 'the platform has rolled it back, and reported this when the provider sent it again',
    of: {
      state: 'ROLLED_BACK',
      attempts: [attempt('OPERATOR_TIMED_OUT')],
      timeline: [told('200 DECLINED TRANSACTION_ROLLED_BACK, when the provider sent it again')],
      rollback: detail({ transactionId: 'croupier-1', kind: 'ROLLBACK' }),
    },
    outcome: ['ROLLED_BACK', 'ROLLED_BACK', 'ROLLED_BACK'],
    differs: false,
  },
  {
    name: 'no provider has requested an adjustment',
    of: { kind: 'ADJUSTMENT', attempts: [attempt('APPROVED')] },
    outcome: [undefined, 'APPROVED', 'APPROVED'],
    differs: false,
  },
  {
    name: 'the operator was not asked, because the platform has decided',
    of: {
      state: 'DECLINED',
      operatorRequest: { route: '/balance', body: {} },
      attempts: [attempt('DECLINED')],
      timeline: [told('200 DECLINED STAKE_ABOVE_LIMIT, balance 7.50 EUR')],
    },
    outcome: ['DECLINED', 'DECLINED', undefined],
    differs: false,
  },
])('$name', ({ of, outcome, differs }) => {
  const [row] = comparisonOf(detail(of));
  expect(row).toMatchObject({ name: 'outcome', differs });
  expect([row?.provider, row?.platform, row?.operator]).toEqual(outcome);
});

test('a balance that was reported to the provider and the operator did not answer is a difference', () => {
  const rows = comparisonOf(
    detail({ balance: 750, responseBody: '{"balance":750}', attempts: [attempt('APPROVED', 740)] }),
  );
  expect(rows.find(({ name }) => name === 'balance')).toEqual({
    name: 'balance',
    provider: '750',
    platform: '750',
    operator: '740',
    differs: true,
  });
});
