import { CroupierError } from '../errors/croupier-error.js';
import type { Game } from './game.entity.js';
import type { OperatorEntity, ProviderEntity } from './tenant.entity.js';

export type { Game };
/** A provider without its secrets. */
export type Provider = Readonly<Omit<ProviderEntity, 'encryptedSecret'>>;
/** An operator without its secrets. */
export type Operator = Readonly<Omit<OperatorEntity, 'encryptedSecret'>>;
export type Tenant = Provider | Operator;
export type TenantKind = Tenant['kind'];

/** The reserved provider id under which the platform's own transactions (adjustments) are booked. */
export const PLATFORM_ID = 'platform';

export const WALLET_ADAPTERS = ['signed-json'] as const;

/**
 * Refuses a currency that the operator does not accept. Contract, section 9, "Currencies".
 * @throws CroupierError INVALID_REQUEST
 */
export function assertCurrency({ currencies }: Operator, currency: string): void {
  if (currencies === null || currencies.includes(currency)) return;
  throw new CroupierError(
    'INVALID_REQUEST',
    `currency ${currency} is not among the operator's currencies: ${currencies.join(', ')}`,
  );
}

/** The noun for a tenant or game in the audit log. */
export function nounOf<Kind extends TenantKind | 'GAME'>(kind: Kind): Lowercase<Kind> {
  return kind.toLowerCase() as Lowercase<Kind>;
}

/** The target of the audit log's entries about a tenant or game. */
export function auditTargetOf(of: { readonly kind: TenantKind | 'GAME'; readonly id: string }): string {
  return `${nounOf(of.kind)}:${of.id}`;
}
