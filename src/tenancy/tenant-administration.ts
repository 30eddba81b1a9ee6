import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
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
    private readonly audit: Audit,
  ) {}

  /** @throws CroupierError INVALID_REQUEST · CONFLICT where the id is taken */
  async createProvider(actor: Actor, request: CreateProviderRequest): Promise<Provider & { secret: string }> {
    return this.create(actor, {
      kind: 'PROVIDER',
      ...this.sharedFields(request),
      webhookBaseUrl: this.baseUrl('webhookBaseUrl', request.webhookBaseUrl),
      lateSettlementSeconds: request.lateSettlementSeconds ?? 0,
    });
  }

  /** @throws CroupierError INVALID_REQUEST · CONFLICT where the id is taken */
  async createOperator(actor: Actor, request: CreateOperatorRequest): Promise<Operator & { secret: string }> {
    const { walletTimeoutMs } = request;
    this.checkWalletTimeout(walletTimeoutMs);
    return this.create(actor, {
      kind: 'OPERATOR',
      ...this.sharedFields(request),
      walletBaseUrl: this.baseUrl('walletBaseUrl', request.walletBaseUrl),
      walletAdapter: request.walletAdapter ?? 'signed-json',
      ...(walletTimeoutMs != null && { walletTimeoutMs }),
    });
  }

  /** @throws CroupierError INVALID_REQUEST · NOT_FOUND */
  async changeProvider(actor: Actor, id: string, request: ChangeProviderRequest): Promise<Provider> {
    const { webhookBaseUrl, lateSettlementSeconds } = request;
    return this.change(actor, 'PROVIDER', id, {
      ...request,
      ...(webhookBaseUrl !== undefined && { webhookBaseUrl: this.baseUrl('webhookBaseUrl', webhookBaseUrl) }),
      ...(lateSettlementSeconds === null && { lateSettlementSeconds: 0 }),
    });
  }

  /** @throws CroupierError INVALID_REQUEST · NOT_FOUND */
  async changeOperator(actor: Actor, id: string, request: ChangeOperatorRequest): Promise<Operator> {
    const { walletBaseUrl } = request;
    this.checkWalletTimeout(request.walletTimeoutMs);
    return this.change(actor, 'OPERATOR', id, {
      ...request,
      ...(walletBaseUrl !== undefined && { walletBaseUrl: this.baseUrl('walletBaseUrl', walletBaseUrl) }),
    });
  }

  /**
   * Makes a new secret; the present one stays valid beside it for the overlap, one before it no longer.
   * @param overlapSeconds 0: the present secret is invalid at once
   * @throws CroupierError NOT_FOUND
   */
  async rotateSecret(
    actor: Actor,
    kind: TenantKind,
    id: string,
    overlapSeconds: number,
  ): Promise<RotatedSecret> {
    const now = this.clock.now();
    const secret = this.randomness.secret();
    const previousValidUntil = new Date(now.getTime() + overlapSeconds * 1000);
    const overlap = overlapSeconds > 0 ? previousValidUntil : null;
    const sealed = this.secretBox.seal(id, secret);
    await this.audit.change(actor, async (query, record) => {
      const known =
        isIdentifier(id) && (await this.store.rotateSecret(query, kind, id, sealed, overlap, now));
      if (!known) throw unknown(kind);
      const after = { overlapSeconds, previousValidUntil };
      await record({ action: `${nounOf(kind)}.rotate-secret`, target: `${nounOf(kind)}:${id}`, after });
    });
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

  private async create<T extends Tenant>(actor: Actor, tenant: T): Promise<T & { secret: string }> {
    const secret = this.randomness.secret();
    const sealed = this.secretBox.seal(tenant.id, secret);
    await this.audit.change(actor, async (query, record) => {
      const free = tenant.id !== PLATFORM_ID && (await this.store.insertTenant(query, tenant, sealed));
      if (!free) throw new CroupierError('CONFLICT', `the id ${tenant.id} is taken`);
      const noun = nounOf(tenant.kind);
      await record({ action: `${noun}.create`, target: `${noun}:${tenant.id}`, after: tenant });
    });
    await this.tenancy.changed();
    return { ...tenant, secret };
  }

  private async change<K extends TenantKind>(
    actor: Actor,
    kind: K,
    id: string,
    changes: TenantChanges,
  ): Promise<TenantOf<K>> {
    const now = this.clock.now();
    const tenant = await this.audit.change(actor, async (query, record) => {
      const before = isIdentifier(id) ? await this.store.lockedTenant(query, kind, id) : undefined;
      const after = before && (await this.store.changeTenant(query, kind, id, changes, now));
      if (!after) throw unknown(kind);
      await record({ action: `${nounOf(kind)}.change`, target: `${nounOf(kind)}:${id}`, before, after });
      return after;
    });
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
  return new CroupierError('NOT_FOUND', `no such ${nounOf(kind)}`);
}

function nounOf(kind: TenantKind): 'provider' | 'operator' {
  return kind === 'PROVIDER' ? 'provider' : 'operator';
}
