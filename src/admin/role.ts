/** What an administrator may do; each role holds those after it. Contract, section 7. */
export const ROLES = ['admin', 'promotions', 'support'] as const;

export type Role = (typeof ROLES)[number];

/** Whether a role holds another: `admin` ⊃ `promotions` ⊃ `support`. */
export function holds(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(required);
}
