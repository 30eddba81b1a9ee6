import {
  CurrencyField,
  IdentifierField,
  QueryChoiceField,
  QueryIntegerField,
  UuidField,
} from '../../api/validation/fields.js';
import { TimePageQuery } from '../../api/lists/time-page.js';
import type { Kind, State, WinKind } from '../../wallet/rules/facts.js';
import { WIN_KINDS } from '../../wallet/rules/win-kind.js';

export const STATES = [
  'PENDING',
  'APPROVED',
  'DECLINED',
  'TIMED_OUT',
  'ROLLED_BACK',
] as const satisfies State[];

const KINDS = ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'] as const satisfies (Kind | 'ADJUSTMENT')[];

/** Contract, sections 5, 7 and 9. An absent filter restricts nothing. */
export class OperatorTransactionQuery extends TimePageQuery {
  @IdentifierField({
    presence: 'optional',
    example: 'sandbox-provider',
    description: '`platform` for adjustments',
  })
  providerId?: string;

  @IdentifierField({ presence: 'optional', example: 'player-42' })
  playerRef?: string;

  @IdentifierField({ presence: 'optional', example: 'round-7' })
  roundId?: string;

  @QueryChoiceField(STATES, { description: 'TIMED_OUT: the outcome is not known yet' })
  state?: State;

  @QueryChoiceField(KINDS)
  kind?: Kind | 'ADJUSTMENT';

  @QueryChoiceField(WIN_KINDS, { description: 'Only WINs of this kind' })
  winKind?: WinKind;

  @UuidField({ presence: 'optional' })
  sessionId?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-slots' })
  gameId?: string;

  @QueryIntegerField({
    minimum: Number.MIN_SAFE_INTEGER,
    example: 250,
    description: 'Minor units; signed for an adjustment only',
  })
  amountMinor?: number;

  @QueryIntegerField({
    minimum: Number.MIN_SAFE_INTEGER,
    example: 100,
    description: 'Minor units: only transactions of at least this amount',
  })
  minAmountMinor?: number;

  @QueryIntegerField({
    minimum: Number.MIN_SAFE_INTEGER,
    example: 1000,
    description: 'Minor units: only transactions of at most this amount',
  })
  maxAmountMinor?: number;

  @CurrencyField({ presence: 'optional' })
  currency?: string;

  @QueryChoiceField(['true'], {
    description: 'only undecided transactions that the resolver has parked for a person',
  })
  parked?: 'true';
}

export class TransactionQuery extends OperatorTransactionQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}
