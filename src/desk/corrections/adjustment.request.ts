import {
  CurrencyField,
  IdentifierField,
  IntegerField,
  OwnIdentifierField,
  TextField,
} from '../../api/validation/fields.js';

/** Contract, section 7. */
export class AdjustmentRequest {
  @OwnIdentifierField({ example: 'adjustment-4711', description: 'Makes the call idempotent, for ever' })
  adjustmentId: string;

  @IdentifierField({ example: 'sandbox-operator' })
  operatorId: string;

  @IdentifierField({ example: 'player-42' })
  playerRef: string;

  @CurrencyField()
  currency: string;

  @IntegerField({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    except: 0,
    example: 250,
    description: 'Minor units, signed: positive credits the player, negative debits; not 0',
  })
  amountMinor: number;

  @TextField({ longest: 500, notBlank: true, example: 'refund of a disputed round, ticket 4711' })
  reason: string;
}
