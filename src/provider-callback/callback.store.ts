import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database } from '../database/database.js';
import { selectList } from '../database/select-list.js';
import { named } from '../database/statement.js';
import { findPage, type Found, type WindowedFilter, type WindowedTable } from '../database/time-window.js';
import type { Place } from '../database/place.js';
import type { CallbackQuery } from './callback.admin.request.js';
import { Callback } from './callback.entity.js';

type NewCallback = Pick<Callback, 'providerId' | 'route' | 'reference' | 'requestId' | 'body'>;

interface Completion extends Pick<Callback, 'status' | 'answer' | 'error'> {
  readonly durationMs: number;
}

/** Completes an attempt, once. It began less than a day ago, so PostgreSQL need not search older partitions. */
const COMPLETE = named(
  'callback_complete',
  `
    UPDATE callbacks SET status = :status, answer = :answer, error = :error, duration_ms = :durationMs,
                         completed_at = clock_timestamp()
     WHERE callback_id = :callbackId AND completed_at IS NULL
       AND created_at > statement_timestamp() - interval '1 day'`,
);

export const CALLBACKS: WindowedTable = {
  columns: selectList(Callback, 't'),
  from: 'callbacks',
  id: 'callback_id',
  idType: 'bigint',
};

export function callbackFilter({ reference, providerId: provider_id, route }: CallbackQuery): WindowedFilter {
  return { equal: { reference, provider_id, route } };
}

@Injectable()
export class CallbackStore {
  constructor(
    private readonly database: Database,
    @InjectRepository(Callback) private readonly callbacks: Repository<Callback>,
  ) {}

  /** @returns the callbackId */
  async begin(attempt: NewCallback): Promise<number> {
    const { identifiers } = await this.callbacks.insert(attempt);
    return (identifiers[0] as Pick<Callback, 'callbackId'>).callbackId;
  }

  /** Completes the attempt, and repeats the write if its connection is lost. */
  async complete(callbackId: number, completion: Completion): Promise<void> {
    await this.database.persistQuery(COMPLETE, { callbackId, ...completion });
  }

  find(callbackId: number): Promise<Callback | null> {
    return this.callbacks.findOneBy({ callbackId });
  }

  /** One page of attempts, newest first. It may be short or empty, because it examines a bounded number of attempts. */
  page(
    filter: CallbackQuery,
    before: Place | undefined,
    limit: number,
  ): Promise<Found<Callback & { place: string }>> {
    return findPage(this.database.query, CALLBACKS, callbackFilter(filter), { ...filter, before }, limit);
  }
}
