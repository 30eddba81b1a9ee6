import type { SecretBox } from './secret-box.js';
import type { Snapshot, StoredTenant } from './tenancy.store.js';
import type { Game, Tenant } from './tenant.js';

/** A tenant with its secrets, opened. */
export interface Entry {
  readonly tenant: Tenant;
  readonly secret: string;
  readonly previous?: { readonly secret: string; readonly validUntil: Date };
}

/** All tenants and games as they stood together at one version. Never changed: a newer one takes its place. */
export interface Directory {
  readonly version: number;
  readonly tenants: ReadonlyMap<string, Entry>;
  readonly games: ReadonlyMap<string, Game>;
  /** Tenants left out because their secret does not open, and why: one bad row must not take all others down. */
  readonly unreadable: readonly string[];
}

export const NOBODY: Directory = { version: 0, tenants: new Map(), games: new Map(), unreadable: [] };

export function directoryOf(snapshot: Snapshot, secretBox: SecretBox): Directory {
  const tenants = new Map<string, Entry>();
  const unreadable: string[] = [];
  for (const stored of snapshot.tenants) {
    const { id } = stored.tenant;
    try {
      tenants.set(id, opened(stored, secretBox));
    } catch (error) {
      unreadable.push(`the secret of ${id} does not open: ${(error as Error).message}`);
    }
  }
  const games = new Map(snapshot.games.map((game) => [game.gameId, game]));
  return { version: snapshot.version, tenants, games, unreadable };
}

function opened({ tenant, sealedSecret, previous }: StoredTenant, secretBox: SecretBox): Entry {
  const secret = secretBox.open(tenant.id, sealedSecret);
  if (!previous) return { tenant, secret };
  const { validUntil } = previous;
  return {
    tenant,
    secret,
    previous: { secret: secretBox.open(tenant.id, previous.sealedSecret), validUntil },
  };
}
