/** The tenants of all contestants: one provider, one operator, one game. */
export const PROVIDER_ID = 'bench-provider';
export const OPERATOR_ID = 'bench-operator';
export const GAME_ID = 'bench-game';
export const CURRENCY = 'EUR';
/** The secrets of the floor and the usual stack; the service creates its own. */
export const PROVIDER_SECRET = 'bench-provider-secret-0123456789abcdef';
export const OPERATOR_SECRET = 'bench-operator-secret-0123456789abcdef';
/** The sessions that are seeded: `token-0` of `player-0` and so on. */
export const SESSIONS = 1_000;
