import { Inject, Injectable } from '@nestjs/common';
import { Configuration } from '../../config/configuration.js';
import type { SecretsKeys } from '../../config/keys.js';
import { decryptText, encryptText, IV_BYTES, keyFor } from '../../runtime/authenticated-encryption.js';
import { Randomness } from '../../runtime/randomness.js';
import { invalidCursor } from './invalid-cursor.js';
import type { NextCursor, PageQuery } from './page.js';

/** Separates this key from other uses of `SECRETS_KEY`. */
const KEY_PURPOSE = 'croupier cursor';

/**
 * Encrypts the cursors of an operator's own lists, with a key derived from `SECRETS_KEY` by HKDF-SHA256. A page that
 * examines a player's transactions may end at one of another operator whose player has the same name; a readable cursor
 * would disclose its time and id, and the operator could go through them all. The number of a grant would disclose how
 * many grants the platform has.
 */
@Injectable()
export class OwnCursors {
  /** The current key, which encrypts, and the previous one. */
  private readonly keys: readonly Buffer[];

  constructor(
    @Inject(Configuration) { secretsKey, secretsKeyPrevious }: SecretsKeys,
    private readonly randomness: Randomness,
  ) {
    this.keys = (secretsKeyPrevious ? [secretsKey, secretsKeyPrevious] : [secretsKey]).map((key) =>
      keyFor(KEY_PURPOSE, key),
    );
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
    return Buffer.concat([iv, encryptText(this.keys[0]!, operatorId, iv, cursor)]).toString('base64url');
  }

  private decrypt(operatorId: string, encrypted: string): string {
    const bytes = Buffer.from(encrypted, 'base64url');
    const [iv, body] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES)];
    for (const key of this.keys) {
      const cursor = decryptText(key, operatorId, iv, body);
      if (cursor !== undefined) return cursor;
    }
    throw invalidCursor();
  }
}
