import { ByteOrderMarkField } from '../http/lists/page.js';
import { PatternField } from '../http/validation/fields.js';

/** Matches the same texts with and without Unicode mode, because Swagger's pages validate their input without it. */
const ID = /^[ -~\u00a0-\ud7ff\ue000-\uffff]{1,200}$/;

/** Contract, section 9. */
export class SearchQuery {
  @PatternField(ID, 'must be 1 to 200 characters without control characters', {
    example: 'player-42',
    description: 'Any id, in full',
  })
  q: string;

  @ByteOrderMarkField()
  bom?: 'true' | 'false';
}
