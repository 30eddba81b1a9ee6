import { PatternField } from '../http/validation/fields.js';

/** The same with and without Unicode mode: Swagger's pages check what they send without it. */
const ID = /^[ -~\u00a0-\ud7ff\ue000-\uffff]{1,200}$/;

/** Contract, section 9. */
export class SearchQuery {
  @PatternField(ID, 'must be 1 to 200 characters, control characters not among them', {
    example: 'player-42',
    description: 'Any id, in full',
  })
  q: string;
}
