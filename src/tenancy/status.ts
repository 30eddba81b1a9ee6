/** A disabled tenant or game is refused. Contract, section 3, "Settling after the session". */
export type Status = 'ACTIVE' | 'DISABLED';
