import type { Type } from '@nestjs/common';
import { TimePageQuery } from '../api/lists/time-page.js';
import {
  IdentifierField,
  PatternField,
  QueryChoiceField,
  TextField,
  UuidsField,
} from '../api/validation/fields.js';
import { InstantField } from '../api/validation/instant.js';
import { BEYOND_PATTERN } from '../api/validation/schema-extensions.js';
import { ATTENTION_KINDS, ATTENTION_STATES, type AttentionKind, type AttentionState } from './attention.js';

/** Longest name of an assignee, in characters. */
const ASSIGNEE = 128;

/** Contract, section 9, "Attention". */
export class AttentionQuery extends TimePageQuery {
  @QueryChoiceField(ATTENTION_KINDS)
  kind?: AttentionKind;

  @QueryChoiceField(ATTENTION_STATES)
  state?: AttentionState;

  @TextField({ longest: ASSIGNEE, presence: 'optional', example: 'Ada' })
  assignee?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-provider' })
  providerId?: string;
}

export class AssignRequest {
  @TextField({
    longest: ASSIGNEE,
    notBlank: true,
    presence: 'required-nullable',
    example: 'Ada',
    description: 'Free text; null removes the assignment',
  })
  assignee: string | null;
}

export class SnoozeRequest {
  @InstantField('In the future', { presence: 'required', example: '2099-01-31T06:00:00Z' })
  until: string;
}

export class CommentRequest {
  @PatternField(
    /^(?=\s*\S)(?:[^\p{Cc}\p{Cs}]|\n){1,2000}$/u,
    'must be 1 to 2000 characters without control characters but line feeds, and not only spaces',
    { example: 'asked the operator, ticket 4711', description: 'The comment; may have several lines' },
    {
      minLength: 1,
      maxLength: 2_000,
      pattern: String.raw`^[^\x00-\x09\x0b-\x1f\x7f-\x9f]*$`,
      [BEYOND_PATTERN]: 'no lone surrogates, and not only spaces',
    },
  )
  text: string;
}

export class CloseRequest {
  @TextField({ longest: 500, notBlank: true, example: 'the operator has corrected it' })
  reason: string;
}

/** Maximum number of items that one request changes. Each is a transaction of its own. */
const ITEMS = 200;

/** Adds the items to a change of one item. */
function ofSeveral<Change extends Type<object>>(change: Change) {
  class SeveralItems extends change {
    @UuidsField({
      most: ITEMS,
      example: ['0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11'],
      description: 'The ids of the items',
    })
    ids: string[];
  }
  return SeveralItems;
}

export class AssignSeveralRequest extends ofSeveral(AssignRequest) {}

export class SnoozeSeveralRequest extends ofSeveral(SnoozeRequest) {}

export class CloseSeveralRequest extends ofSeveral(CloseRequest) {}
