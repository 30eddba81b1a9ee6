import type { Role } from './role.js';

/** Who acts: a name for the records, and what they may do. */
export interface Administrator {
  /** `root` · `key:<id>` · `jwt:<subject>`. */
  readonly name: string;
  readonly role: Role;
}
