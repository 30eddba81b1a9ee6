import { Inject, Injectable } from '@nestjs/common';
import { Configuration } from '../../config/configuration.js';
import type { SecretsKeys } from '../../config/keys.js';
import { decryptText, encryptText, IV_BYTES } from '../../runtime/authenticated-encryption.js';
import { keyIdOf } from '../../runtime/digest.js';
import { Randomness } from '../../runtime/randomness.js';

const SECRET_ID_BYTES = 12;
/** `v1.<key id>.<iv>.<ciphertext and tag>`, the format of earlier versions, whose additional data is the tenant's id. */
const ENCRYPTED_V1 = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/;
const ENCRYPTED_V2 = /^v2\.([0-9a-f]{8})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/;

/** The tenant and the column that an encrypted secret belongs to. */
export interface SecretPlace {
  readonly tenantId: string;
  readonly column: 'current' | 'previous';
}

/** A secret, and the random id by which the audit log names it. */
export interface IdentifiedSecret {
  readonly secretId: string;
  readonly secret: string;
}

interface EncryptedParts {
  readonly keyId: string;
  /** Absent in the format of earlier versions. */
  readonly secretId?: string;
  readonly iv: string;
  readonly body: string;
}

/**
 * Encrypts the tenants' secrets at rest with AES-256-GCM. The additional data binds an encrypted text to its tenant,
 * its column and the secret's id, so that it cannot be decrypted as another secret. Texts in the format of earlier
 * versions, which are bound only to the tenant, can still be decrypted. Contract, section 8, `SECRETS_KEY`.
 */
@Injectable()
export class SecretBox {
  /** The id of the current key, the only key that encrypts. */
  readonly keyId: string;

  /** The keys for decryption, by key id. */
  private readonly keys: ReadonlyMap<string, Buffer>;
  private readonly key: Buffer;

  /** Encrypts with `secretsKey`; decrypts with both keys. */
  constructor(
    @Inject(Configuration) { secretsKey, secretsKeyPrevious }: SecretsKeys,
    private readonly randomness: Randomness,
  ) {
    this.key = secretsKey;
    this.keyId = keyIdOf(secretsKey);
    const known = secretsKeyPrevious ? [secretsKey, secretsKeyPrevious] : [secretsKey];
    this.keys = new Map(known.map((key) => [keyIdOf(key), key]));
  }

  create(): IdentifiedSecret {
    return { secretId: this.newSecretId(), secret: this.randomness.secret() };
  }

  /** Whether the text was encrypted with the current key in the current format. */
  isCurrent(encryptedSecret: string): boolean {
    return ENCRYPTED_V2.exec(encryptedSecret)?.[1] === this.keyId;
  }

  /** @returns `v2.<key id>.<secret id>.<iv>.<ciphertext and tag>`, the last three in base64url */
  encrypt(place: SecretPlace, { secretId, secret }: IdentifiedSecret): string {
    const iv = this.randomness.bytes(IV_BYTES);
    const body = encryptText(this.key, additionalData(place, secretId), iv, secret);
    return `v2.${this.keyId}.${secretId}.${iv.toString('base64url')}.${body.toString('base64url')}`;
  }

  /** Decrypts as `decrypt`. A secret in the earlier format has no id and gets a new one. */
  identify(place: SecretPlace, encryptedSecret: string): IdentifiedSecret {
    const { secret, secretId } = this.decrypt(place, encryptedSecret);
    return { secret, secretId: secretId ?? this.newSecretId() };
  }

  /**
   * @returns the secret, without an id if the text has the earlier format
   * @throws Error if the text is not an encrypted secret, was altered, or was encrypted with another key or for another
   *   tenant or column
   */
  decrypt(place: SecretPlace, encryptedSecret: string): { secret: string; secretId?: string } {
    const { keyId, secretId, iv, body } = parse(encryptedSecret);
    const key = this.keys.get(keyId);
    if (!key) {
      throw new Error(
        `it was encrypted with key ${keyId}, but this process has key ${[...this.keys.keys()].join(' and key ')}`,
      );
    }
    const data = secretId === undefined ? place.tenantId : additionalData(place, secretId);
    const secret = decryptText(key, data, Buffer.from(iv, 'base64url'), Buffer.from(body, 'base64url'));
    if (secret === undefined) throw new Error('it was altered, or encrypted for another tenant or column');
    return { secret, ...(secretId !== undefined && { secretId }) };
  }

  private newSecretId(): string {
    return this.randomness.bytes(SECRET_ID_BYTES).toString('base64url');
  }
}

/** Never equal to the earlier format's additional data, the tenant's id: that has no brackets. */
function additionalData({ tenantId, column }: SecretPlace, secretId: string): string {
  return JSON.stringify(['croupier secret', tenantId, column, secretId]);
}

function parse(encryptedSecret: string): EncryptedParts {
  const [, keyId, secretId, iv, body] = ENCRYPTED_V2.exec(encryptedSecret) ?? [];
  if (keyId !== undefined) return { keyId, secretId: secretId!, iv: iv!, body: body! };
  const [, earlierKeyId, earlierIv, earlierBody] = ENCRYPTED_V1.exec(encryptedSecret) ?? [];
  if (earlierKeyId !== undefined) return { keyId: earlierKeyId, iv: earlierIv!, body: earlierBody! };
  throw new Error('it is not an encrypted secret');
}
