import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { isUuid } from '../http/validation/identifier.js';
import type { SearchItem } from './search.response.js';
import { SEARCH } from './search.sql.js';

/** Something that an id names, with what its address needs; null is what it does not have. */
export interface FoundRow extends Pick<SearchItem, 'type' | 'id' | 'at'> {
  readonly operatorId: string | null;
  readonly providerId: string | null;
  readonly playerRef: string | null;
  /** Of a round. */
  readonly gameId: string | null;
  readonly mode: string | null;
  /** Of a request: the transaction that it was about; null if the audit log has it. */
  readonly transactionId: string | null;
}

@Injectable()
export class SearchStore {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  find(id: string): Promise<FoundRow[]> {
    return this.database.query<FoundRow>(SEARCH, [id, isUuid(id) ? id : null]);
  }
}
