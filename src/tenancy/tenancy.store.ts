import { Injectable } from '@nestjs/common';
import { Database, type Query } from '../database/database.js';
import type { Timed } from '../database/database-clock.js';
import type { Game, NewTenant, Status, Tenant, TenantKind, TenantOf } from './tenant.js';

/** A tenant as it lies in the database. */
export interface StoredTenant {
  readonly tenant: Tenant;
  readonly sealedSecret: string;
  readonly previous?: { readonly sealedSecret: string; readonly validUntil: Date };
}

export interface Version extends Timed {
  readonly version: number;
}

export interface Snapshot extends Version {
  readonly tenants: readonly StoredTenant[];
  readonly games: readonly Game[];
}

/** The fields that change; one that is absent stays, one that is null goes back to its default. */
export type TenantChanges = Readonly<Record<string, string | number | null>>;

/** Where a list continues: what comes after this id, in the order of its bytes. */
export interface Page {
  readonly after: string;
  readonly limit: number;
}

/** Each SQL over tenants, their secrets and games. */
@Injectable()
export class TenancyStore {
  constructor(private readonly database: Database) {}

  /** Moves with every change of a tenant or game. */
  async version(): Promise<Version> {
    const [row] = await this.database.query<Version>(VERSION, []);
    return row!;
  }

  /** Version, tenants and games as one moment saw them: a change is in all three or in none. */
  snapshot(): Promise<Snapshot> {
    return this.database.transaction(async ({ query }) => {
      await query(ONE_MOMENT, []);
      const tenants = await query<TenantRow>(TENANTS, []);
      const games = await query<GameRow>(GAMES, []);
      const [version] = await query<Version>(VERSION, []);
      return { ...version!, tenants: tenants.map(storedTenant), games: games.map(gameOf) };
    });
  }

  /** @returns when it was created; undefined where the id is taken, by a tenant of whichever kind */
  async insertTenant(query: Query, tenant: NewTenant, sealedSecret: string): Promise<Date | undefined> {
    const provider = tenant.kind === 'PROVIDER' ? tenant : undefined;
    const operator = tenant.kind === 'OPERATOR' ? tenant : undefined;
    const [row] = await query<{ createdAt: Date }>(INSERT_TENANT, [
      tenant.id,
      tenant.kind,
      tenant.name,
      tenant.status,
      tenant.requestsPerSecond,
      provider?.webhookBaseUrl,
      provider?.lateSettlementSeconds,
      operator?.walletBaseUrl,
      operator?.walletAdapter,
      operator?.walletTimeoutMs,
      sealedSecret,
    ]);
    return row?.createdAt;
  }

  /** The tenant as nobody else can change it before this transaction ends. */
  async lockedTenant<K extends TenantKind>(
    query: Query,
    kind: K,
    id: string,
  ): Promise<TenantOf<K> | undefined> {
    return (await query<TenantRow>(LOCKED_TENANT, [kind, id])).map(tenantOf<K>)[0];
  }

  async changeTenant<K extends TenantKind>(
    query: Query,
    kind: K,
    id: string,
    changes: TenantChanges,
  ): Promise<TenantOf<K> | undefined> {
    const rows = await query<TenantRow>(CHANGE_TENANT, [id, kind, JSON.stringify(changes)]);
    return rows.map(tenantOf<K>)[0];
  }

  async tenant<K extends TenantKind>(kind: K, id: string): Promise<TenantOf<K> | undefined> {
    return (await this.database.query<TenantRow>(TENANT, [kind, id])).map(tenantOf<K>)[0];
  }

  async tenants<K extends TenantKind>(kind: K, page: Page): Promise<TenantOf<K>[]> {
    const rows = await this.database.query<TenantRow>(TENANT_PAGE, [kind, page.after, page.limit]);
    return rows.map(tenantOf<K>);
  }

  /** Creates or replaces a game. @returns undefined where there is no such provider */
  async putGame(
    query: Query,
    game: Omit<Game, 'createdAt' | 'updatedAt'>,
  ): Promise<{ game: Game; created: boolean } | undefined> {
    const { gameId, providerId, name, status, launchUrl } = game;
    const values = [gameId, providerId, name, status, launchUrl];
    const [row] = await query<GameRow & { created: boolean }>(PUT_GAME, values);
    return row && { game: gameOf(row), created: row.created };
  }

  /** The game as nobody else can change, or create, it before this transaction ends. */
  async lockedGame(query: Query, gameId: string): Promise<Game | undefined> {
    await query(LOCK_GAME, [gameId]);
    return (await query<GameRow>(GAME, [gameId])).map(gameOf)[0];
  }

  async game(gameId: string): Promise<Game | undefined> {
    return (await this.database.query<GameRow>(GAME, [gameId])).map(gameOf)[0];
  }

  async games(page: Page): Promise<Game[]> {
    return (await this.database.query<GameRow>(GAME_PAGE, [page.after, page.limit])).map(gameOf);
  }
}

const VERSION = {
  name: 'tenancy_version',
  text: `
    SELECT coalesce((SELECT version FROM tenancy_version), 0) AS version, clock_timestamp() AS "databaseTime"`,
};

/** The first statement of a transaction whose reads all see the same moment. */
export const ONE_MOMENT = {
  name: 'tenancy_one_moment',
  text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
};

const TENANTS = { name: 'tenancy_tenants', text: 'SELECT * FROM tenants' };

const GAMES = { name: 'tenancy_games', text: 'SELECT * FROM games' };

const INSERT_TENANT = {
  name: 'tenancy_insert_tenant',
  text: `
    INSERT INTO tenants (id, kind, name, status, requests_per_second, webhook_base_url, late_settlement_seconds,
      wallet_base_url, wallet_adapter, wallet_timeout_ms, sealed_secret, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, statement_timestamp(), statement_timestamp())
    ON CONFLICT (id) DO NOTHING
    RETURNING created_at AS "createdAt"`,
};

const CHANGE_TENANT = {
  name: 'tenancy_change_tenant',
  text: `
    UPDATE tenants SET
      name = coalesce($3::jsonb->>'name', name),
      status = coalesce($3::jsonb->>'status', status),
      requests_per_second = CASE WHEN $3::jsonb ? 'requestsPerSecond'
        THEN ($3::jsonb->>'requestsPerSecond')::integer ELSE requests_per_second END,
      webhook_base_url = coalesce($3::jsonb->>'webhookBaseUrl', webhook_base_url),
      late_settlement_seconds = coalesce(($3::jsonb->>'lateSettlementSeconds')::integer, late_settlement_seconds),
      wallet_base_url = coalesce($3::jsonb->>'walletBaseUrl', wallet_base_url),
      wallet_adapter = coalesce($3::jsonb->>'walletAdapter', wallet_adapter),
      wallet_timeout_ms = CASE WHEN $3::jsonb ? 'walletTimeoutMs'
        THEN ($3::jsonb->>'walletTimeoutMs')::integer ELSE wallet_timeout_ms END,
      updated_at = statement_timestamp()
    WHERE id = $1 AND kind = $2
    RETURNING *`,
};

const TENANT = { name: 'tenancy_tenant', text: 'SELECT * FROM tenants WHERE kind = $1 AND id = $2' };

const LOCKED_TENANT = { name: 'tenancy_locked_tenant', text: `${TENANT.text} FOR UPDATE` };

const TENANT_PAGE = {
  name: 'tenancy_tenant_page',
  text: `SELECT * FROM tenants WHERE kind = $1 AND id COLLATE "C" > $2 ORDER BY id COLLATE "C" LIMIT $3`,
};

/** A new row has no xmax: so the one statement tells whether it created or replaced. */
const PUT_GAME = {
  name: 'tenancy_put_game',
  text: `
    INSERT INTO games (game_id, provider_id, name, status, launch_url, created_at, updated_at)
    SELECT $1, id, $3, $4, $5, statement_timestamp(), statement_timestamp() FROM tenants WHERE id = $2 AND kind = 'PROVIDER'
    ON CONFLICT (game_id) DO UPDATE SET
      provider_id = excluded.provider_id, name = excluded.name, status = excluded.status,
      launch_url = excluded.launch_url, updated_at = excluded.updated_at
    RETURNING *, xmax = 0 AS created`,
};

/** The first half of the keys of the advisory locks on games: any number nobody else takes. */
const GAME_LOCKS = 7_300_004;

const GAME = { name: 'tenancy_game', text: 'SELECT * FROM games WHERE game_id = $1' };

/** Of its id, since there may be no row yet. */
const LOCK_GAME = {
  name: 'tenancy_lock_game',
  text: `SELECT pg_advisory_xact_lock(${GAME_LOCKS}, hashtext($1))`,
};

const GAME_PAGE = {
  name: 'tenancy_game_page',
  text: `SELECT * FROM games WHERE game_id COLLATE "C" > $1 ORDER BY game_id COLLATE "C" LIMIT $2`,
};

interface TenantRow {
  id: string;
  kind: TenantKind;
  name: string;
  status: Status;
  requests_per_second: number | null;
  /** The columns of a provider; the constraints keep them filled for one and empty for an operator. */
  webhook_base_url: string;
  late_settlement_seconds: number;
  /** The columns of an operator. */
  wallet_base_url: string;
  wallet_adapter: string;
  wallet_timeout_ms: number | null;
  sealed_secret: string;
  previous_sealed_secret: string | null;
  previous_valid_until: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface GameRow {
  game_id: string;
  provider_id: string;
  name: string;
  status: Status;
  launch_url: string | null;
  created_at: Date;
  updated_at: Date;
}

function tenantOf<K extends TenantKind>(row: TenantRow): TenantOf<K> {
  const { id, kind, name, status, requests_per_second: requestsPerSecond } = row;
  const times = { createdAt: row.created_at, updatedAt: row.updated_at };
  const shared = { id, name, status, ...(requestsPerSecond !== null && { requestsPerSecond }), ...times };
  const tenant: Tenant =
    kind === 'PROVIDER'
      ? {
          ...shared,
          kind,
          webhookBaseUrl: row.webhook_base_url,
          lateSettlementSeconds: row.late_settlement_seconds,
        }
      : {
          ...shared,
          kind,
          walletBaseUrl: row.wallet_base_url,
          walletAdapter: row.wallet_adapter,
          ...(row.wallet_timeout_ms !== null && { walletTimeoutMs: row.wallet_timeout_ms }),
        };
  return tenant as TenantOf<K>;
}

function storedTenant(row: TenantRow): StoredTenant {
  const {
    sealed_secret: sealedSecret,
    previous_sealed_secret: previous,
    previous_valid_until: validUntil,
  } = row;
  const tenant = tenantOf(row);
  if (previous === null || validUntil === null) return { tenant, sealedSecret };
  return { tenant, sealedSecret, previous: { sealedSecret: previous, validUntil } };
}

function gameOf(row: GameRow): Game {
  const { game_id: gameId, provider_id: providerId, name, status, launch_url: launchUrl } = row;
  const times = { createdAt: row.created_at, updatedAt: row.updated_at };
  return { gameId, providerId, name, status, ...(launchUrl !== null && { launchUrl }), ...times };
}
