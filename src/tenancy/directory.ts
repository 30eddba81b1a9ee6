import type { Pause, PausedKind } from './pauses/pause.entity.js';
import type { SecretBox, SecretPlace } from './secrets/secret-box.js';
import type { Snapshot } from './tenancy.store.js';
import type { Game, Tenant } from './tenant.js';

/** A tenant with its decrypted secrets. */
export interface TenantWithSecrets {
  readonly tenant: Tenant;
  readonly secret: string;
  readonly previous?: { readonly secret: string; readonly validUntil: Date };
}

/** All tenants and games at one version. Immutable: a newer directory replaces it. */
export interface Directory {
  readonly version: number;
  readonly tenants: ReadonlyMap<string, TenantWithSecrets>;
  readonly games: ReadonlyMap<string, Game>;
  /** The amount above which a WIN is flagged, in minor units. The key is `<operatorId>/<currency>`. */
  readonly winLimits: ReadonlyMap<string, number>;
  /** Pauses by `pauseKey`, including those that have ended. */
  readonly pauses: ReadonlyMap<string, Pause>;
  /**
   * Tenants that are left out because their secret cannot be decrypted, with the reason. One bad row must not affect
   * all others.
   */
  readonly unreadable: readonly string[];
  /** Tenants without their previous secret, because it cannot be decrypted, with the reason. */
  readonly withoutPrevious: readonly string[];
}

export const EMPTY_DIRECTORY: Directory = {
  version: 0,
  tenants: new Map(),
  games: new Map(),
  winLimits: new Map(),
  pauses: new Map(),
  unreadable: [],
  withoutPrevious: [],
};

export function directoryOf(snapshot: Snapshot, secretBox: SecretBox): Directory {
  const tenants = new Map<string, TenantWithSecrets>();
  const unreadable: string[] = [];
  const withoutPrevious: string[] = [];
  const secrets = new Map(snapshot.secrets.map((encrypted) => [encrypted.id, encrypted]));
  for (const tenant of snapshot.tenants) {
    const { encryptedSecret, previousEncryptedSecret, previousValidUntil } = secrets.get(tenant.id)!;
    const open = (column: SecretPlace['column'], encrypted: string) =>
      tryDecrypt(secretBox, { tenantId: tenant.id, column }, encrypted);
    const current = open('current', encryptedSecret);
    if ('problem' in current) {
      unreadable.push(`the secret of ${tenant.id} cannot be decrypted: ${current.problem}`);
      continue;
    }
    const { secret } = current;
    const before = previousEncryptedSecret === null ? undefined : open('previous', previousEncryptedSecret);
    if (before && 'problem' in before) {
      withoutPrevious.push(`the previous secret of ${tenant.id} cannot be decrypted: ${before.problem}`);
    }
    tenants.set(tenant.id, {
      tenant,
      secret,
      ...(before &&
        'secret' in before &&
        previousValidUntil !== null && {
          previous: { secret: before.secret, validUntil: previousValidUntil },
        }),
    });
  }
  const games = new Map(snapshot.games.map((game) => [game.gameId, game]));
  const winLimits = new Map(
    snapshot.winLimits.map(({ operatorId, currency, maxWinMinor }) => [
      `${operatorId}/${currency}`,
      maxWinMinor,
    ]),
  );
  const pauses = new Map(snapshot.pauses.map((pause) => [pauseKey(pause.kind, pause.id), pause]));
  return { version: snapshot.version, tenants, games, winLimits, pauses, unreadable, withoutPrevious };
}

export function pauseKey(kind: PausedKind, id: string): string {
  return `${kind}/${id}`;
}

function tryDecrypt(
  box: SecretBox,
  place: SecretPlace,
  encrypted: string,
): { secret: string } | { problem: string } {
  try {
    return { secret: box.decrypt(place, encrypted).secret };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
