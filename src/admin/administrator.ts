import type { Role } from './role.js';

/** An authenticated administrator. */
export interface Administrator {
  /** `root` · `key:<id>` · `jwt:<subject>`. */
  readonly id: string;
  /** Display name: the key's name, the token's subject, or `root`. */
  readonly name: string;
  /** Empty if a token of the OpenID provider is valid but names none of our roles. */
  readonly roles: readonly Role[];
}
