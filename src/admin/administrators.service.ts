import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { equalInConstantTime, sha256 } from '../runtime/digest.js';
import { failureText } from '../runtime/failure-text.js';
import { AdminTokens } from './admin-tokens.service.js';
import { KeyStore, type LiveKey } from './key.store.js';
import { type Administrator, ROOT_ID } from './role.js';

const ROOT: Administrator = { id: ROOT_ID, name: 'root', roles: ['admin'] };

/** The format of our keys: 256 bits in base64url. */
const KEY = /^[A-Za-z0-9_-]{43}$/;
const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Shortest interval between two recorded uses of a key, in seconds. */
const LAST_USED_SECONDS = 60;

/** Identifies administrators by the root key, one of our keys, or a token of the configured issuer. */
@Injectable()
export class Administrators {
  private readonly logger = new BoundedLogger('Administrators');

  constructor(
    private readonly configuration: Configuration,
    private readonly keys: KeyStore,
    private readonly tokens: AdminTokens,
  ) {}

  /**
   * The administrator of a credential; undefined if it is not valid. A key is looked up each time, so that a revocation
   * and an expiry apply to all instances at once.
   * @throws CroupierError INTERNAL if the issuer of a token cannot be reached
   */
  async identify(key: string): Promise<Administrator | undefined> {
    if (equalInConstantTime(key, this.configuration.adminApiKey)) return ROOT;
    if (this.configuration.adminJwt && TOKEN.test(key)) return this.tokens.identify(key);
    const stored = KEY.test(key) ? await this.keys.liveByHash(sha256(key), LAST_USED_SECONDS) : undefined;
    if (!stored) return undefined;
    if (stored.useIsDue) await this.recordUse(stored);
    return {
      id: `key:${stored.id}`,
      name: stored.name,
      roles: [stored.role],
      expiresAt: stored.expiresAt ?? undefined,
    };
  }

  /** Whether `identify` looks the credential up in the database: it is a key, but not the root key. */
  isLookedUp(key: string): boolean {
    return KEY.test(key) && !equalInConstantTime(key, this.configuration.adminApiKey);
  }

  private async recordUse({ id }: LiveKey): Promise<void> {
    try {
      await this.keys.used(id, LAST_USED_SECONDS);
    } catch (error) {
      this.logger.warn({
        msg: 'the last use of an admin key could not be recorded',
        id,
        detail: failureText(error),
      });
    }
  }
}
