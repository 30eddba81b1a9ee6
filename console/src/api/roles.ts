import type { Schema } from './schemas.ts';

export type Role = Schema<'Role'>;

/** For each role, the roles whose permissions it has. The service decides; this only chooses what is shown. */
const INCLUDED: Readonly<Record<Role, readonly Role[]>> = {
  admin: ['admin', 'operations', 'promotions', 'support', 'auditor'],
  operations: ['operations', 'support', 'auditor'],
  promotions: ['promotions', 'support', 'auditor'],
  support: ['support', 'auditor'],
  auditor: ['auditor'],
};

/** Whether a role is, or includes, the required one. */
export function includes(role: Role, required: Role): boolean {
  return INCLUDED[role].includes(required);
}
