import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database } from '../database/database.js';
import type { WithDatabaseTime } from '../database/database-clock.js';
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
  /** The encrypted secrets, one record for each tenant. */
  readonly secrets: readonly EncryptedSecrets[];
  readonly games: readonly Game[];
  readonly winLimits: readonly WinLimit[];
  /** All pauses, including those that have ended. */
  readonly pauses: readonly Pause[];
}

/** The amount above which a WIN is flagged. Contract, section 9, "Limits and approvals". */
export interface WinLimit {
  readonly operatorId: string;
  readonly currency: string;
  readonly maxWinMinor: number;
}

/** Runs twice a second on every instance. */
const VERSION = {
  name: 'tenancy_version',
  text: `
    SELECT coalesce((SELECT version FROM tenancy_version), 0) AS version, clock_timestamp() AS "databaseTime"`,
};

/** The room `limits/` writes these rows. */
const WIN_LIMITS = {
  name: 'tenancy_win_limits',
  text: `
    SELECT operator_id AS "operatorId", currency, max_win_minor AS "maxWinMinor"
      FROM limits WHERE max_win_minor IS NOT NULL`,
};

/** Reads the tables of the directory. */
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
  async version(): Promise<Version> {
    const [row] = await this.database.query<Version>(VERSION, []);
    return row!;
  }

  /** Reads all tables in one snapshot, so that the result contains a change completely or not at all. */
  snapshot(): Promise<Snapshot> {
    return this.database.transaction(async ({ query, manager }) => {
      const secrets = await secretsInSnapshot(query);
      const providers = await manager.withRepository(this.providers).find();
      const operators = await manager.withRepository(this.operators).find();
      const games = await manager.withRepository(this.games).find();
      const winLimits = await query<WinLimit>(WIN_LIMITS, []);
      const pauses = await manager.withRepository(this.pauses).find();
      const [version] = await query<Version>(VERSION, []);
      return { ...version!, tenants: [...providers, ...operators], secrets, games, winLimits, pauses };
    });
  }
}
