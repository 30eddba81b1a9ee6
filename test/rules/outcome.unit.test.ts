import { describe, expect, test } from 'vitest';
import { declineReason, responseBody } from '../../src/wallet/rules/outcome.js';

test.each<[string | undefined, string]>([
  ['INSUFFICIENT_FUNDS', 'INSUFFICIENT_FUNDS'],
  ['PLAYER_BLOCKED', 'PLAYER_BLOCKED'],
  ['LIMIT_REACHED', 'LIMIT_REACHED'],
  ['STAKE_ABOVE_LIMIT', 'STAKE_ABOVE_LIMIT'],
  ['TRANSACTION_ROLLED_BACK', 'TRANSACTION_ROLLED_BACK'],
  ['ROUND_ALREADY_SETTLED', 'ROUND_ALREADY_SETTLED'],
  ['NOT_ROLLBACKABLE', 'NOT_ROLLBACKABLE'],
  ['OTHER', 'OTHER'],
  ['insufficient_funds', 'OTHER'],
  ['card expired', 'OTHER'],
  ['', 'OTHER'],
  [undefined, 'OTHER'],
])("the operator's reason %j is answered as %s", (reason, answered) => {
  expect(declineReason(reason)).toBe(answered);
});

describe('a response', () => {
  const approved = {
    transactionId: 'bet-1',
    platformTransactionId: 'id-1',
    status: 'APPROVED',
    balance: 900,
    currency: 'EUR',
  } as const;

  test('has its fields in the order of the contract', () => {
    expect(responseBody(approved)).toBe(
      '{"transactionId":"bet-1","platformTransactionId":"id-1","status":"APPROVED","balance":900,"currency":"EUR"}',
    );
  });

  test('of a DECLINED transaction ends with its reason', () => {
    const declined = { ...approved, status: 'DECLINED', declineReason: 'PLAYER_BLOCKED' } as const;
    expect(responseBody(declined)).toMatch(/"status":"DECLINED",.*"declineReason":"PLAYER_BLOCKED"}$/);
  });
});
