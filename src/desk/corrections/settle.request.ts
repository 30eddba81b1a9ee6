import { ChoiceField, IntegerField, TextField } from '../../api/validation/fields.js';

/** The operator's answer about a parked transaction. Contract, section 9, "Settling by hand". */
export class SettleRequest {
  @ChoiceField(['APPROVED', 'DECLINED'], { example: 'APPROVED' })
  status: 'APPROVED' | 'DECLINED';

  @IntegerField({
    minimum: Number.MIN_SAFE_INTEGER,
    presence: 'optional',
    example: 99750,
    description:
      'Minor units, as the operator reports it; if it is absent, the answer has the last balance that the ' +
      'operator reported',
  })
  balance?: number;

  @TextField({
    longest: 200,
    notBlank: true,
    example: 'ticket 4711 of the operator',
    description: "The operator's reference for its answer",
  })
  operatorReference: string;

  @TextField({ longest: 500, notBlank: true, example: 'the wallet no longer knows transactions of that day' })
  reason: string;
}
