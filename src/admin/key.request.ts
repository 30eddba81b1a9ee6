import { ChoiceField, TextField } from '../api/validation/fields.js';
import { InstantField } from '../api/validation/instant.js';
import { type Role, ROLES } from './role.js';

export const ROLE_SCHEMA = {
  enumName: 'Role',
  description:
    '`admin` includes `operations` and `promotions`, each of these includes `support`, and `support` includes `auditor`',
  example: 'support',
};

/** Contract, section 7. */
export class CreateKeyRequest {
  @TextField({ longest: 128, notBlank: true, example: 'Night shift' })
  name: string;

  @ChoiceField(ROLES, ROLE_SCHEMA)
  role: Role;

  @InstantField('In the future: when the key expires (if absent, only a revocation ends it)', {
    presence: 'nullable',
    example: '2099-01-31T06:00:00Z',
  })
  expiresAt?: string | null;
}
