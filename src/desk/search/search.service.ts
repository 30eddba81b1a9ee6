import { Injectable } from '@nestjs/common';
import { present } from '../../api/lists/time-page.js';
import { AttemptIds } from '../../wallet/attempt-ids.js';
import { hrefOf } from './href.js';
import type { SearchItem, SearchResponse } from './search.response.js';
import { type FoundRow, SearchStore } from './search.store.js';

/** Finds records by an id of any kind. Contract, section 9. */
@Injectable()
export class SearchService {
  constructor(
    private readonly found: SearchStore,
    private readonly attemptIds: AttemptIds,
  ) {}

  /** Finds exact matches, newest first. Other instances' attempts are found about half a second after they end. */
  async search(id: string): Promise<SearchResponse> {
    await this.attemptIds.flush();
    return { items: (await this.found.find(id)).map(itemOf) };
  }
}

function itemOf(row: FoundRow): SearchItem {
  const { type, id, operatorId, providerId, playerRef, at } = row;
  return present<SearchItem>({ type, id, operatorId, providerId, playerRef, at, href: hrefOf(row) });
}
