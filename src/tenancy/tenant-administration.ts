import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { isIdentifier } from '../http/identifier.js';
import { checkBaseUrl, normalisedBaseUrl } from '../outbound/base-url.js';
import { Clock } from '../runtime/clock.js';
import { Randomness } from '../runtime/randomness.js';
import type { ChangeOperatorRequest, CreateOperatorRequest } from './operator.request.js';
import { pageById, type PageOf, type PageQuery } from '../http/page.js';
import type { ChangeProviderRequest, CreateProviderRequest } from './provider.request.js';
import { SecretBox } from './secret-box.js';
import type { RotatedSecret } from './secret.request.js';
import { TenancyService } from './tenancy.service.js';
import { TenancyStore, type TenantChanges } from './tenancy.store.js';
import {
  type Operator,
  PLATFORM_ID,
  type Provider,
  type Tenant,
  type TenantKind,
  type TenantOf,
} from './tenant.js';

/** Creates and changes providers and operators, and their secrets. Contract, section 7. */
@Injectable()
export class TenantAdministration {
  constructor(
    private readonly configuration: Configuration,
    private readonly tenancy: TenancyService,
    private readonly store: TenancyStore,
    private readonly secretBox: SecretBox,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {}

  /** @throws CroupierError INVALID_REQUEST · CONFLICT where the id is taken */
  async createProvider(request: CreateProviderRequest): Promise<Provider & { secret: string }> {
    return this.create({
      kind: 'PROVIDER',
      ...this.sharedFields(request),
      webhookBaseUrl: this.baseUrl('webhookBaseUrl', request.webhookBaseUrl),
      lateSettlementSeconds: request.lateSettlementSeconds ?? 0,
    });
  }

  /** @throws CroupierError INVALID_REQUEST · CONFLICT where the id is taken */
  async createOperator(request: CreateOperatorRequest): Promise<Operator & { secret: string }> {
    const { walletTimeoutMs } = request;
    this.checkWalletTimeout(walletTimeoutMs);
    return this.create({
      kind: 'OPERATOR',
      ...this.sharedFields(request),
      walletBaseUrl: this.baseUrl('walletBaseUrl', request.walletBaseUrl),
      walletAdapter: request.walletAdapter ?? 'signed-json',
      ...(walletTimeoutMs != null && { walletTimeoutMs }),
    });
  }

  /** @throws CroupierError INVALID_REQUEST · NOT_FOUND */
  async changeProvider(id: string, request: ChangeProviderRequest): Promise<Provider> {
    const { webhookBaseUrl, lateSettlementSeconds } = request;
    return this.change('PROVIDER', id, {
      ...request,
      ...(webhookBaseUrl !== undefined && { webhookBaseUrl: this.baseUrl('webhookBaseUrl', webhookBaseUrl) }),
      ...(lateSettlementSeconds === null && { lateSettlementSeconds: 0 }),
    });
  }

  /** @throws CroupierError INVALID_REQUEST · NOT_FOUND */
  async changeOperator(id: string, request: ChangeOperatorRequest): Promise<Operator> {
    const { walletBaseUrl } = request;
    this.checkWalletTimeout(request.walletTimeoutMs);
    return this.change('OPERATOR', id, {
      ...request,
      ...(walletBaseUrl !== undefined && { walletBaseUrl: this.baseUrl('walletBaseUrl', walletBaseUrl) }),
    });
  }

  /**
   * Makes a new secret; the present one stays valid beside it for the overlap, one before it no longer.
   * @param overlapSeconds 0: the present secret is invalid at once
   * @throws CroupierError NOT_FOUND
   */
  async rotateSecret(kind: TenantKind, id: string, overlapSeconds: number): Promise<RotatedSecret> {
    const now = this.clock.now();
    const secret = this.randomness.secret();
    const previousValidUntil = new Date(now.getTime() + overlapSeconds * 1000);
    const overlap = overlapSeconds > 0 ? previousValidUntil : null;
    const sealed = this.secretBox.seal(id, secret);
    const known = isIdentifier(id) && (await this.store.rotateSecret(kind, id, sealed, overlap, now));
    if (!known) throw unknown(kind);
    await this.tenancy.changed();
    return { secret, previousValidUntil };
  }

  /** @throws CroupierError NOT_FOUND */
  async find<K extends TenantKind>(kind: K, id: string): Promise<TenantOf<K>> {
    const tenant = isIdentifier(id) ? await this.store.tenant(kind, id) : undefined;
    if (!tenant) throw unknown(kind);
    return tenant;
  }

  /** Ordered by id. @throws CroupierError INVALID_REQUEST */
  list<K extends TenantKind>(kind: K, query: PageQuery): Promise<PageOf<TenantOf<K>>> {
    return pageById<TenantOf<K>>(
      query,
      (page) => this.store.tenants(kind, page),
      (tenant: Tenant) => tenant.id,
    );
  }

  private async create<T extends Tenant>(tenant: T): Promise<T & { secret: string }> {
    const secret = this.randomness.secret();
    const free = tenant.id !== PLATFORM_ID;
    if (!free || !(await this.store.insertTenant(tenant, this.secretBox.seal(tenant.id, secret)))) {
      throw new CroupierError('CONFLICT', `the id ${tenant.id} is taken`);
    }
    await this.tenancy.changed();
    return { ...tenant, secret };
  }

  private async change<K extends TenantKind>(
    kind: K,
    id: string,
    changes: TenantChanges,
  ): Promise<TenantOf<K>> {
    const now = this.clock.now();
    const tenant = isIdentifier(id) ? await this.store.changeTenant(kind, id, changes, now) : undefined;
    if (!tenant) throw unknown(kind);
    await this.tenancy.changed();
    return tenant;
  }

  private sharedFields({
    id,
    name,
    status,
    requestsPerSecond,
  }: CreateProviderRequest | CreateOperatorRequest) {
    const now = this.clock.now();
    return {
      id,
      name,
      status: status ?? ('ACTIVE' as const),
      ...(requestsPerSecond != null && { requestsPerSecond }),
      createdAt: now,
      updatedAt: now,
    };
  }

  private baseUrl(field: string, url: string): string {
    const reason = checkBaseUrl(url, this.configuration.outboundAllowPrivate);
    if (reason !== undefined) throw new CroupierError('INVALID_REQUEST', `${field} ${reason}`);
    return normalisedBaseUrl(url);
  }

  private checkWalletTimeout(walletTimeoutMs: number | null | undefined): void {
    const longestMs = this.tenancy.longestWalletTimeoutMs;
    if (walletTimeoutMs == null || walletTimeoutMs <= longestMs) return;
    throw new CroupierError(
      'INVALID_REQUEST',
      `walletTimeoutMs must be at most ${longestMs}: a transaction's lease must outlast it by a second`,
    );
  }
}

function unknown(kind: TenantKind): CroupierError {
  return new CroupierError('NOT_FOUND', kind === 'PROVIDER' ? 'no such provider' : 'no such operator');
}
