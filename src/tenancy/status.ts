/** A disabled tenant or game is refused. Contract, section 3, "Late settlement". */
export type Status = 'ACTIVE' | 'DISABLED';
