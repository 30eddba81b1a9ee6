import { TextField } from '../../api/validation/fields.js';
import { InstantField } from '../../api/validation/instant.js';

/** Contract, section 9, "Health and pauses". */
export class PauseRequest {
  @TextField({
    longest: 500,
    notBlank: true,
    example: 'the wallet is being moved',
    description: 'Recorded in the log and the audit log; refused callers do not see it',
  })
  reason: string;

  @InstantField('When the pause ends (if absent, only a resume ends it)', {
    presence: 'nullable',
    example: '2099-01-31T06:00:00Z',
  })
  until?: string | null;
}

/** Contract, section 9, "Health and pauses". */
export class ResumeRequest {
  @TextField({
    presence: 'nullable',
    longest: 500,
    notBlank: true,
    example: 'the wallet has been moved',
    description: 'Recorded in the audit log',
  })
  reason?: string | null;
}
