import type { Role } from './role.js';

/** Who acts: a name for the records, and what they may do. */
export interface Administrator {
  /** `root` · `key:<id>` · `jwt:<subject>`. */
  readonly name: string;
  /** Undefined where the token of the OpenID provider is valid, but names none of our roles. */
  readonly role: Role | undefined;
}
