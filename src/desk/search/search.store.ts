import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { isUuid } from '../../api/validation/identifier.js';
import type { SearchItem } from './search.response.js';
import { SEARCH } from './search.sql.js';

/** A found record, with the fields from which its `href` is built. A field that does not apply is null. */
export interface FoundRow extends Pick<SearchItem, 'type' | 'id' | 'at'> {
  readonly operatorId: string | null;
  readonly providerId: string | null;
  readonly playerRef: string | null;
  /** For a round: its game and mode. */
  readonly gameId: string | null;
  readonly mode: string | null;
  /** For a request: the transaction of its attempt; null if it was found by an audit entry or a callback. */
  readonly transactionId: string | null;
  /** For a request: the callback that it caused. */
  readonly callbackId: string | null;
}

@Injectable()
export class SearchStore {
  constructor(private readonly database: Database) {}

  /** Finds at most `MAX_ITEMS` records, newest first. */
  find(id: string): Promise<FoundRow[]> {
    return this.database.query<FoundRow>(SEARCH, [id, isUuid(id) ? id : null]);
  }
}
