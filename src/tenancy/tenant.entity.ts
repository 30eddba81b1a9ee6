import { ChildEntity, Column, Entity, PrimaryColumn, TableInheritance } from 'typeorm';
import { instant, integer, nullable, secret, text, texts } from '../database/columns.js';

/** Contract, section 3, "Late settlement", says what is still accepted for a disabled tenant or game. */
export type Status = 'ACTIVE' | 'DISABLED';

/** Providers and operators share a table, so that an id is unique across both. */
@Entity({ name: 'tenants', synchronize: false })
@TableInheritance({ column: { name: 'kind', type: 'text' } })
export abstract class TenantEntity {
  @PrimaryColumn(text('id'))
  id: string;

  @Column(text('kind'))
  kind: 'PROVIDER' | 'OPERATOR';

  @Column(text('name'))
  name: string;

  @Column(text('status'))
  status: Status;

  /** The tenant's own rate limit, in requests per second; null means `REQUESTS_PER_SECOND`. */
  @Column(nullable(integer('requests_per_second')))
  requestsPerSecond: number | null;

  @Column(secret(text('sealed_secret')))
  encryptedSecret: string;

  @Column(instant('created_at'))
  createdAt: Date;

  @Column(instant('updated_at'))
  updatedAt: Date;
}

/** A game provider, which calls the wallet routes. */
@ChildEntity('PROVIDER')
export class ProviderEntity extends TenantEntity {
  override kind: 'PROVIDER';

  /** The base address for callbacks to the provider, without a trailing slash. */
  @Column(text('webhook_base_url'))
  webhookBaseUrl: string;

  /** How long WINs and ROLLBACKs are accepted after their session has ended, in seconds. Contract, section 3. */
  @Column(integer('late_settlement_seconds'))
  lateSettlementSeconds: number;
}

/** An operator, whose wallet holds the players' money. */
@ChildEntity('OPERATOR')
export class OperatorEntity extends TenantEntity {
  override kind: 'OPERATOR';

  /** The base address of its wallet, without a trailing slash. */
  @Column(text('wallet_base_url'))
  walletBaseUrl: string;

  @Column(text('wallet_adapter'))
  walletAdapter: string;

  /** The time-out of its wallet, in milliseconds; null means `OPERATOR_TIMEOUT_MS`. */
  @Column(nullable(integer('wallet_timeout_ms')))
  walletTimeoutMs: number | null;

  /** The accepted currencies of sessions, grants and adjustments; null means any. Contract, section 9, "Currencies". */
  @Column(nullable(texts('currencies')))
  currencies: string[] | null;
}
