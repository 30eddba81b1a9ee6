import { IdentifierField, QueryChoiceField } from '../api/validation/fields.js';
import { TimePageQuery } from '../api/lists/time-page.js';
import { CALLBACK_ROUTES } from './callbacks.openapi.js';

/** The filters of the list of callbacks; an absent filter matches all. Contract, section 7. */
export class CallbackQuery extends TimePageQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-provider' })
  providerId?: string;

  @QueryChoiceField(CALLBACK_ROUTES)
  route?: string;

  @IdentifierField({ presence: 'optional', description: "A grant's requestRef, or a sessionId" })
  reference?: string;
}
