import { failureText } from '../runtime/failure-text.js';
import type { Pause, PausedKind } from './pauses/pause.entity.js';
import type { SecretBox, SecretPlace } from './secrets/secret-box.js';
import type { Snapshot } from './tenancy.store.js';
import type { Game, Tenant } from './tenant.js';

/** A tenant with its decrypted secrets. */
interface TenantWithSecrets {
  readonly tenant: Tenant;
  readonly secret: string;
  readonly previous?: { readonly secret: string; readonly validUntil: Date };
}

/** All tenants, games and pauses at one tenancy version. Immutable: a change creates a new directory. */
export interface Directory {
  readonly version: number;
  readonly tenants: ReadonlyMap<string, TenantWithSecrets>;
  readonly games: ReadonlyMap<string, Game>;
  /** Pauses by `pauseKey`, including those that have ended. */
  readonly pauses: ReadonlyMap<string, Pause>;
  /** A message for each tenant that is left out because its secret cannot be decrypted, by id. Others stay usable. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** A message for each tenant whose previous secret is left out, because it cannot be decrypted. */
  readonly withoutPrevious: readonly string[];
}

/** The directory before the first reading. Its version differs from every stored one, so the first poll loads. */
export const EMPTY_DIRECTORY: Directory = {
  version: -1,
  tenants: new Map(),
  games: new Map(),
  pauses: new Map(),
  unreadable: new Map(),
  withoutPrevious: [],
};

export function directoryOf(snapshot: Snapshot, secretBox: SecretBox): Directory {
  const tenants = new Map<string, TenantWithSecrets>();
  const unreadable = new Map<string, string>();
  const withoutPrevious: string[] = [];
  const secrets = new Map(snapshot.secrets.map((encrypted) => [encrypted.id, encrypted]));
  for (const tenant of snapshot.tenants) {
    const {
      encryptedSecret,
      previousEncryptedSecret,
      previousValidUntil: validUntil,
    } = secrets.get(tenant.id)!;
    const decrypt = (
      column: SecretPlace['column'],
      encrypted: string | null,
      report: (problem: string) => void,
    ) => tryDecrypt(secretBox, { tenantId: tenant.id, column }, encrypted, report);
    const secret = decrypt('current', encryptedSecret, (problem) => unreadable.set(tenant.id, problem));
    if (secret === undefined) continue;
    const previous = decrypt('previous', previousEncryptedSecret, (problem) => withoutPrevious.push(problem));
    tenants.set(tenant.id, {
      tenant,
      secret,
      ...(previous !== undefined && validUntil && { previous: { secret: previous, validUntil } }),
    });
  }
  const games = new Map(snapshot.games.map((game) => [game.gameId, game]));
  const pauses = new Map(snapshot.pauses.map((pause) => [pauseKey(pause.kind, pause.id), pause]));
  return { version: snapshot.version, tenants, games, pauses, unreadable, withoutPrevious };
}

export function pauseKey(kind: PausedKind, id: string): string {
  return `${kind}/${id}`;
}

/** @returns undefined if there is no secret, or it cannot be decrypted: then `report` gets a message */
function tryDecrypt(
  box: SecretBox,
  place: SecretPlace,
  encrypted: string | null,
  report: (problem: string) => void,
): string | undefined {
  try {
    return encrypted === null ? undefined : box.decrypt(place, encrypted).secret;
  } catch (error) {
    const which = place.column === 'previous' ? 'previous secret' : 'secret';
    report(`the ${which} of ${place.tenantId} cannot be decrypted: ${failureText(error)}`);
    return undefined;
  }
}
