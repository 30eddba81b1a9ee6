import { TextField } from '../http/validation/fields.js';

/** Contract, section 9. */
export class SearchQuery {
  @TextField({ longest: 200, example: 'player-42', description: 'Any id, in full' })
  q: string;
}
