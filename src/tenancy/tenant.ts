import type { Game } from './game.entity.js';
import type { OperatorEntity, ProviderEntity } from './tenant.entity.js';

export type { Game };
/** A provider as all rooms know it: without its secrets. */
export type Provider = Readonly<Omit<ProviderEntity, 'sealedSecret'>>;
/** An operator as all rooms know it: without its secrets. */
export type Operator = Readonly<Omit<OperatorEntity, 'sealedSecret'>>;
export type Tenant = Provider | Operator;
export type TenantKind = Tenant['kind'];

/** Taken from the start: what the platform itself books, an adjustment, stands under this provider. */
export const PLATFORM_ID = 'platform';

export const WALLET_ADAPTERS = ['signed-json'] as const;

/** How the audit log names a tenant of this kind. */
export function nounOf(kind: TenantKind): 'provider' | 'operator' {
  return kind === 'PROVIDER' ? 'provider' : 'operator';
}
