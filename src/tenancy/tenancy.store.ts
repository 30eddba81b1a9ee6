import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database, type OnSend, type Query } from '../database/database.js';
import type { WithDatabaseTime } from '../database/database-clock.js';
import { named } from '../database/statement.js';
import { Game } from './game.entity.js';
import { Pause } from './pauses/pause.entity.js';
import { type EncryptedSecrets, secretsInSnapshot } from './secrets/encrypted-secret.store.js';
import { OperatorEntity, ProviderEntity } from './tenant.entity.js';
import type { Tenant } from './tenant.js';

export interface Version extends WithDatabaseTime {
  readonly version: number;
}

export interface Snapshot extends Version {
  readonly tenants: readonly Tenant[];
  readonly secrets: readonly EncryptedSecrets[];
  readonly games: readonly Game[];
  /** All pauses, including those that have ended. */
  readonly pauses: readonly Pause[];
}

/** Reads what another room stores, in the transaction of the snapshot. */
export type SnapshotReader = (query: Query) => Promise<void>;

/** Runs twice a second on every instance. */
const VERSION = named(
  'tenancy_version',
  `SELECT coalesce((SELECT version FROM tenancy_version), 0) AS version, clock_timestamp() AS "databaseTime"`,
);

@Injectable()
export class TenancyStore {
  constructor(
    private readonly database: Database,
    @InjectRepository(ProviderEntity) private readonly providers: Repository<ProviderEntity>,
    @InjectRepository(OperatorEntity) private readonly operators: Repository<OperatorEntity>,
    @InjectRepository(Game) private readonly games: Repository<Game>,
    @InjectRepository(Pause) private readonly pauses: Repository<Pause>,
  ) {}

  /** The tenancy version, which every change of a tenant, game, limit or pause increments. */
  async version(onSend: OnSend): Promise<Version> {
    const [row] = await this.database.query<Version>(VERSION, {}, onSend);
    return row!;
  }

  /** Reads all tables in one snapshot, so that the result contains a change completely or not at all. */
  snapshot(readers: readonly SnapshotReader[]): Promise<Snapshot> {
    return this.database.transaction(async ({ query, manager }) => {
      const secrets = await secretsInSnapshot(query);
      const providers = await manager.withRepository(this.providers).find();
      const operators = await manager.withRepository(this.operators).find();
      const games = await manager.withRepository(this.games).find();
      for (const read of readers) await read(query);
      const pauses = await manager.withRepository(this.pauses).find();
      const [version] = await query<Version>(VERSION, {});
      return { ...version!, tenants: [...providers, ...operators], secrets, games, pauses };
    });
  }
}
