/** Roles of administrators, the strongest first. Contract, sections 7 and 9. */
export const ROLES = ['admin', 'operations', 'promotions', 'support', 'auditor'] as const;

export type Role = (typeof ROLES)[number];

/** For each role, the roles whose permissions it has. */
const INCLUDED: Readonly<Record<Role, readonly Role[]>> = {
  admin: ROLES,
  operations: ['operations', 'support', 'auditor'],
  promotions: ['promotions', 'support', 'auditor'],
  support: ['support', 'auditor'],
  auditor: ['auditor'],
};

/** Whether one of the roles is, or includes, the required one. */
export function holds(roles: readonly string[], required: Role): boolean {
  return ROLES.some((role) => roles.includes(role) && INCLUDED[role].includes(required));
}

/** Removes each role that another role of the list includes. */
export function withoutIncluded(roles: readonly Role[]): Role[] {
  return roles.filter((role) => !roles.some((other) => other !== role && INCLUDED[other].includes(role)));
}

/** The id of the holder of `ADMIN_API_KEY`. */
export const ROOT_ID = 'root';

export interface Administrator {
  /** `root` · `key:<id>` · `jwt:<subject>`. */
  readonly id: string;
  /** Display name: the key's name, the token's subject, or `root`. */
  readonly name: string;
  /** In the order of `ROLES`. Empty if a token of the OpenID provider is valid but names none of our roles. */
  readonly roles: readonly Role[];
  /** When the key or token expires; undefined if it does not. */
  readonly expiresAt?: Date | undefined;
}
