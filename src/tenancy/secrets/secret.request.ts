import { ApiProperty } from '@nestjs/swagger';
import { IntegerField } from '../../api/validation/fields.js';

/** The default overlap, in seconds. A day is enough time to hand over the new secret. */
export const OVERLAP_SECONDS = 86_400;
const LONGEST_OVERLAP_SECONDS = 30 * 86_400;

/** An example secret for the documents. */
export const EXAMPLE_SECRET = 'Jv1p0TqLx8bWm3dR6yKzH2nUcEoGsAfi5X9tQ7hVwZk';

/** Contract, section 7, `secret/rotate`. */
export class RotateSecretRequest {
  @IntegerField({
    presence: 'nullable',
    minimum: 0,
    maximum: LONGEST_OVERLAP_SECONDS,
    default: OVERLAP_SECONDS,
    description: 'how long the current secret stays valid beside the new one; 0 switches at once',
  })
  overlapSeconds?: number | null;
}

export class RotatedSecret {
  @ApiProperty({ description: 'the new secret; it is shown here and never again', example: EXAMPLE_SECRET })
  secret: string;

  @ApiProperty({
    description: 'until then incoming calls may use either secret, and outgoing calls use the previous one',
  })
  previousValidUntil: Date;
}
