import { ByteOrderMarkField } from '../../api/lists/page.js';
import { PatternField } from '../../api/validation/fields.js';
import { BEYOND_PATTERN } from '../../api/validation/schema-extensions.js';

/** Any id that can be stored: an `operatorTransactionId` may have characters of any kind except NUL. */
const ID = /^[^\0\p{Cs}]{1,256}$/u;

/** Contract, section 9. */
export class SearchQuery {
  @PatternField(
    ID,
    'must be 1 to 256 characters without NUL',
    { example: 'player-42', description: 'Any id, in full' },
    {
      minLength: 1,
      maxLength: 256,
      pattern: String.raw`^[^\x00]*$`,
      [BEYOND_PATTERN]: 'no lone surrogates',
    },
  )
  q: string;

  @ByteOrderMarkField()
  bom?: 'true' | 'false';
}
