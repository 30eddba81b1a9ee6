import { ChildEntity, Column, Entity, PrimaryColumn, TableInheritance } from 'typeorm';
import { instant, integer, nullable, secret, text, texts } from '../database/columns.js';
import type { Status } from './status.js';

/** Providers and operators share a table, so that an id is unique over both. Their secrets: `sealed-secret.store.ts`. */
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

  /** Its own rate limit, in requests per second; null: `REQUESTS_PER_SECOND`. */
  @Column(nullable(integer('requests_per_second')))
  requestsPerSecond: number | null;

  @Column(secret(text('sealed_secret')))
  sealedSecret: string;

  @Column(instant('created_at'))
  createdAt: Date;

  @Column(instant('updated_at'))
  updatedAt: Date;
}

/** Runs games, and calls the wallet routes. */
@ChildEntity('PROVIDER')
export class ProviderEntity extends TenantEntity {
  override kind: 'PROVIDER';

  /** Where it takes callbacks; without a slash at its end. */
  @Column(text('webhook_base_url'))
  webhookBaseUrl: string;

  /** How long WIN and ROLLBACK are let through after their session ended, in seconds. Contract, section 3. */
  @Column(integer('late_settlement_seconds'))
  lateSettlementSeconds: number;
}

/** Has the players, and their money in its wallet. */
@ChildEntity('OPERATOR')
export class OperatorEntity extends TenantEntity {
  override kind: 'OPERATOR';

  /** Where its wallet is called; without a slash at its end. */
  @Column(text('wallet_base_url'))
  walletBaseUrl: string;

  /** Which adapter speaks to its wallet. */
  @Column(text('wallet_adapter'))
  walletAdapter: string;

  /** How long its wallet may take, in milliseconds; null: `OPERATOR_TIMEOUT_MS`. */
  @Column(nullable(integer('wallet_timeout_ms')))
  walletTimeoutMs: number | null;

  /** In which sessions, grants and adjustments may be; null: in any. Contract, section 9, "Currencies". */
  @Column(nullable(texts('currencies')))
  currencies: string[] | null;
}
