import { Inject, Injectable } from '@nestjs/common';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Configuration } from '../config/configuration.js';
import type { SecretsKeys } from '../config/keys.js';
import { keyFor } from '../runtime/authenticated-encryption.js';
import { keyIdOf } from '../runtime/digest.js';
import { BrokenAuditError, lengthPrefixed } from './chain.js';
import { placeText, type Seal, type SealedEntry, type Witness } from './entry.js';

/** Separates the sealing key from other uses of `SECRETS_KEY`. */
const KEY_PURPOSE = 'croupier audit seal';

/**
 * Seals audit entries: HMAC-SHA256 over the seal's number and the entry's place and hash, with keys derived from
 * `SECRETS_KEY` by HKDF-SHA256. Write access to the database alone does not suffice to forge a seal.
 */
@Injectable()
export class Sealer {
  /** Identifies the key that makes new seals. */
  readonly keyId: string;
  /** Identifies the keys whose seals can be verified. */
  readonly keyIds: readonly string[];
  private readonly keys: ReadonlyMap<string, Buffer>;

  /** Seals with `secretsKey`; verifies with both keys. */
  constructor(@Inject(Configuration) { secretsKey, secretsKeyPrevious }: SecretsKeys) {
    this.keyId = keyIdOf(secretsKey);
    const known = secretsKeyPrevious ? [secretsKey, secretsKeyPrevious] : [secretsKey];
    this.keys = new Map(known.map((key) => [keyIdOf(key), keyFor(KEY_PURPOSE, key)]));
    this.keyIds = [...this.keys.keys()];
  }

  /** @param number one more than the previous seal's number; 1 for the first seal */
  seal(number: number, { day, position, hash }: Witness): Seal {
    const mac = macOf(this.keys.get(this.keyId)!, number, { day, position, hash }).toString('hex');
    return { number, day, position, keyId: this.keyId, mac };
  }

  judge(seal: Seal, hash: string): 'valid' | 'forged' | 'unknown-key' {
    const key = this.keys.get(seal.keyId);
    if (!key) return 'unknown-key';
    const expected = macOf(key, seal.number, { day: seal.day, position: seal.position, hash });
    return timingSafeEqual(expected, Buffer.from(seal.mac, 'hex')) ? 'valid' : 'forged';
  }
}

function macOf(key: Buffer, number: number, { day, position, hash }: Witness): Buffer {
  const fields = ['croupier audit', 'seal', String(number), day, String(position), hash];
  return createHmac('sha256', key).update(lengthPrefixed(fields)).digest();
}

/** Numbers of seals and entries of a valid log. A valid seal covers all entries before its own. */
export interface SealCount {
  /** Seals of a known key that match their entry. */
  readonly valid: number;
  /** Seals of an unknown key. A later valid seal covers their entries. */
  readonly ofUnknownKey: number;
  /** Entries without a seal of their own. A later valid seal covers them. */
  readonly coveredOnly: number;
  /** Entries after the newest valid seal. */
  readonly notYetSealed: number;
}

/** Verifies the seals of consecutive entries; the chain of hashes is verified separately. */
export class SealCheck {
  readonly count = { valid: 0, ofUnknownKey: 0, coveredOnly: 0, notYetSealed: 0 } satisfies SealCount;
  private lastPlace = '';
  /** The last seal so far, if its key is unknown. */
  private uncovered: Seal | undefined;

  /**
   * @param newest the newest seal, which must have been read before the first entry; undefined if there is none, or if
   *   the entries do not reach the end of the log
   * @param lastNumber the number of the last seal before the entries to verify; 0 if the log begins with these entries
   */
  constructor(
    private readonly sealer: Sealer,
    private readonly newest: Seal | undefined,
    private lastNumber = 0,
  ) {}

  /**
   * Verifies the seal of the next entry. The chain must have been verified up to and including this entry.
   * @throws BrokenAuditError if the seal does not match or an earlier one is missing
   */
  follow(entry: SealedEntry): void {
    const { hash, seal } = entry;
    const at = placeText(entry);
    this.lastPlace = at;
    if (!seal) {
      this.count.notYetSealed += 1;
      return;
    }
    const number = this.lastNumber + 1;
    if (seal.number !== number)
      throw new BrokenAuditError(at, `seal ${number} is missing before its seal ${seal.number}`);
    this.lastNumber = number;
    const verdict = this.sealer.judge(seal, hash);
    if (verdict === 'forged')
      throw new BrokenAuditError(
        at,
        'it is not the entry that was sealed: it was rewritten, or its seal was',
      );
    if (verdict === 'valid') {
      this.count.valid += 1;
      this.count.coveredOnly += this.count.notYetSealed;
      this.count.notYetSealed = 0;
      this.uncovered = undefined;
    } else {
      this.count.ofUnknownKey += 1;
      this.uncovered = seal;
    }
  }

  /**
   * Call it after the last entry.
   * @throws BrokenAuditError if the end of the log is missing, no entry has a seal, or the newest seal's key is unknown
   */
  end(): void {
    if (this.newest && this.newest.number > this.lastNumber) {
      const reason = 'it is missing, but its seal is there: the end of the log was cut off';
      throw new BrokenAuditError(placeText(this.newest), reason);
    }
    if (this.lastNumber === 0 && this.count.notYetSealed > 0) {
      const reason =
        'no entry of the log has a seal. A service of this version seals the log when it starts: ' +
        'if one has run on this database, the seals were removed';
      throw new BrokenAuditError(this.lastPlace, reason);
    }
    if (!this.uncovered) return;
    const reason =
      `its seal was made with key ${this.uncovered.keyId}, and no seal of a known key covers it: ` +
      'set SECRETS_KEY or SECRETS_KEY_PREVIOUS to that key';
    throw new BrokenAuditError(placeText(this.uncovered), reason);
  }
}
