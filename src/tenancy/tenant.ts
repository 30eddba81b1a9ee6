export type Status = 'ACTIVE' | 'DISABLED';

interface TenantFields {
  /** Unique over providers and operators. */
  readonly id: string;
  readonly name: string;
  readonly status: Status;
  /** Its own rate limit, in requests per second; absent: `REQUESTS_PER_SECOND`. */
  readonly requestsPerSecond?: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Runs games, and calls the wallet routes. */
export interface Provider extends TenantFields {
  readonly kind: 'PROVIDER';
  /** Where it takes callbacks; without a slash at its end. */
  readonly webhookBaseUrl: string;
  /** How long WIN and ROLLBACK are let through after their session ended, in seconds. Contract, section 3. */
  readonly lateSettlementSeconds: number;
}

/** Has the players, and their money in its wallet. */
export interface Operator extends TenantFields {
  readonly kind: 'OPERATOR';
  /** Where its wallet is called; without a slash at its end. */
  readonly walletBaseUrl: string;
  /** Which adapter speaks to its wallet. */
  readonly walletAdapter: string;
  /** How long its wallet may take, in milliseconds; absent: `OPERATOR_TIMEOUT_MS`. */
  readonly walletTimeoutMs?: number;
}

export type Tenant = Provider | Operator;
/** A tenant before it is stored: the database says when that is. */
export type NewTenant = Omit<Provider, Stored> | Omit<Operator, Stored>;
type Stored = 'createdAt' | 'updatedAt';

export type TenantKind = Tenant['kind'];
export type TenantOf<K extends TenantKind> = Extract<Tenant, { kind: K }>;

export interface Game {
  /** Unique on the platform: it names the provider. */
  readonly gameId: string;
  readonly providerId: string;
  readonly name: string;
  readonly status: Status;
  /** Where the operator sends the player's browser. */
  readonly launchUrl?: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Taken from the start: what the platform itself books, an adjustment, stands under this provider. */
export const PLATFORM_ID = 'platform';

export const WALLET_ADAPTERS = ['signed-json'] as const;

/** How the audit log names a tenant of this kind. */
export function nounOf(kind: TenantKind): 'provider' | 'operator' {
  return kind === 'PROVIDER' ? 'provider' : 'operator';
}
