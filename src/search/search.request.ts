import { ByteOrderMarkField } from '../http/lists/page.js';
import { PatternField } from '../http/validation/fields.js';

/**
 * Any id that can be stored: a provider's externalRef may have up to 256 characters of any kind except NUL. The pattern
 * matches the same texts with and without Unicode mode, because Swagger's pages validate their input without it.
 */
const ID = /^(?:[\ud800-\udbff][\udc00-\udfff]|[^\0\ud800-\udfff]){1,256}$/;

/** Contract, section 9. */
export class SearchQuery {
  @PatternField(ID, 'must be 1 to 256 characters without NUL', {
    example: 'player-42',
    description: 'Any id, in full',
  })
  q: string;

  @ByteOrderMarkField()
  bom?: 'true' | 'false';
}
