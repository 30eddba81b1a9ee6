import { Inject, Injectable } from '@nestjs/common';
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { NextCursor, PageQuery } from '../api/lists/page.js';
import { Configuration } from '../config/configuration.js';
import type { SecretsKeys } from '../config/keys.js';
import { CroupierError } from '../errors/croupier-error.js';
import { Randomness } from '../runtime/randomness.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Separates this key from other uses of `SECRETS_KEY`. */
const KEY_PURPOSE = 'croupier cursor';

/**
 * Encrypts the cursors of an operator's own lists, with a key derived from `SECRETS_KEY` by HKDF-SHA256. A page that
 * examines a player's transactions may end at one of another operator whose player has the same name; a readable cursor
 * would disclose its time and id, and the operator could go through them all.
 */
@Injectable()
export class OwnCursors {
  /** The current key, which encrypts, and the previous one. */
  private readonly keys: readonly Buffer[];

  constructor(
    @Inject(Configuration) { secretsKey, secretsKeyPrevious }: SecretsKeys,
    private readonly randomness: Randomness,
  ) {
    this.keys = (secretsKeyPrevious ? [secretsKey, secretsKeyPrevious] : [secretsKey]).map(cursorKey);
  }

  /**
   * Reads a page of an operator's list.
   * @throws CroupierError INVALID_REQUEST if the cursor is not one of this operator's
   */
  async page<Query extends PageQuery, Page extends NextCursor>(
    operatorId: string,
    query: Query,
    read: (query: Query) => Promise<Page>,
  ): Promise<Page> {
    const { cursor } = query;
    const page = await read(
      cursor === undefined ? query : { ...query, cursor: this.decrypt(operatorId, cursor) },
    );
    return page.nextCursor === undefined
      ? page
      : { ...page, nextCursor: this.encrypt(operatorId, page.nextCursor) };
  }

  private encrypt(operatorId: string, cursor: string): string {
    const iv = this.randomness.bytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.keys[0]!, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(operatorId));
    const body = Buffer.concat([cipher.update(cursor), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
  }

  private decrypt(operatorId: string, encrypted: string): string {
    const bytes = Buffer.from(encrypted, 'base64url');
    for (const key of this.keys) {
      const cursor = decryptWith(key, operatorId, bytes);
      if (cursor !== undefined) return cursor;
    }
    throw new CroupierError('INVALID_REQUEST', 'cursor must be the nextCursor of an earlier page');
  }
}

function cursorKey(secretsKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secretsKey, '', KEY_PURPOSE, KEY_BYTES));
}

function decryptWith(key: Buffer, operatorId: string, bytes: Buffer): string | undefined {
  const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
  if (tag.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(operatorId));
  decipher.setAuthTag(tag);
  try {
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}
