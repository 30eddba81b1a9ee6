import { type FieldOptions, TextField } from '../api/validation/fields.js';
import { InstantField } from '../api/validation/instant.js';
import { ListQuery } from '../api/lists/page.js';

/** A filter by the exact text of a column. It refuses control characters, which no column contains. */
const ExactTextField = (options: FieldOptions) =>
  TextField({ presence: 'optional', longest: 512, ...options });

/** Contract, section 7. An absent filter restricts nothing; texts must match exactly. */
export class AuditQuery extends ListQuery {
  @ExactTextField({
    example: 'key:5f0b…',
    description: '`root` · `key:<id>` · `jwt:<subject>` · `operator:<id>`',
  })
  actor?: string;

  @ExactTextField({
    example: 'provider.change',
    description:
      'one of `GET /v1/admin/audit/actions`, or the beginning of some with `.*`, such as `limit.*`',
  })
  action?: string;

  @ExactTextField({ example: 'provider:acme-games' })
  target?: string;

  @ExactTextField({ example: 'FORBIDDEN', description: '`done`, or the error code of a refusal' })
  outcome?: string;

  @ExactTextField({ example: '0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11' })
  requestId?: string;

  @InstantField('from ≤ createdAt')
  from?: string;

  @InstantField('createdAt < to')
  to?: string;
}
