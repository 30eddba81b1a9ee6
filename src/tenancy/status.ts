/**
 * Whether a tenant or game may be used. Contract, section 3, "Late settlement", says what is still accepted for a
 * disabled one.
 */
export type Status = 'ACTIVE' | 'DISABLED';
