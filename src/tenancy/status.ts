/** Whether a tenant or game may be used; what a disabled one still may do: contract, section 3, "Late settlement". */
export type Status = 'ACTIVE' | 'DISABLED';
