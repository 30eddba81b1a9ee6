import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
import { Configuration } from '../config/configuration.js';
import type { Query } from '../database/database.js';
import { CroupierError } from '../errors/croupier-error.js';
import { isIdentifier } from '../http/validation/identifier.js';
import { checkBaseUrl, normalisedBaseUrl } from '../outbound/base-url.js';
import type { ChangeOperatorRequest, CreateOperatorRequest } from './operator.request.js';
import { pageById, type PageOf, type PageQuery } from '../http/lists/page.js';
import type { ChangeProviderRequest, CreateProviderRequest } from './provider.request.js';
import {
  isEarlierFormatOnly,
  lockedSecretsOf,
  rotateSecrets,
  type SealedSecrets,
} from './sealed-secret.store.js';
import { type IdentifiedSecret, SecretBox } from './secret-box.js';
import type { RotatedSecret } from './secret.request.js';
import { TenancyService } from './tenancy.service.js';
import { TenancyStore, type TenantChanges } from './tenancy.store.js';
import {
  nounOf,
  type NewTenant,
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
    const created = this.secretBox.create();
    const previousValidUntil = await this.audit.change(actor, async ({ query }, record) => {
      const stored = isIdentifier(id) ? await lockedSecretsOf(query, kind, id) : undefined;
      if (!stored) throw unknown(kind);
      const previous = overlapSeconds > 0 ? this.asPrevious(stored) : undefined;
      const rotated = {
        id,
        sealedSecret: this.secretBox.seal({ tenantId: id, column: 'current' }, created),
        previousSealedSecret: previous?.sealed ?? null,
      };
      const validUntil = await rotateSecrets(query, rotated, overlapSeconds);
      await record({
        action: `${nounOf(kind)}.rotate-secret`,
        target: `${nounOf(kind)}:${id}`,
        after: {
          ...{ overlapSeconds, previousValidUntil: validUntil, secretId: created.secretId },
          ...(previous && { previousSecretId: previous.secretId }),
        },
      });
      return validUntil;
    });
    await this.tenancy.changed();
    return { secret: created.secret, previousValidUntil };
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

  private async create<T extends NewTenant>(actor: Actor, tenant: T) {
    const created = this.secretBox.create();
    const stored = await this.audit.change(actor, async ({ query }, record) => {
      const { sealed, recorded } = await this.sealNew(query, tenant.id, created);
      const createdAt =
        tenant.id === PLATFORM_ID ? undefined : await this.store.insertTenant(query, tenant, sealed);
      if (!createdAt) throw new CroupierError('CONFLICT', `the id ${tenant.id} is taken`);
      const noun = nounOf(tenant.kind);
      const inserted = { ...tenant, createdAt, updatedAt: createdAt };
      await record({
        action: `${noun}.create`,
        target: `${noun}:${tenant.id}`,
        after: { ...inserted, ...recorded },
      });
      return inserted;
    });
    await this.tenancy.changed();
    return { ...stored, secret: created.secret };
  }

  /**
   * The secret of a new tenant. An instance of an earlier version would not start again once there is a secret that it
   * cannot open, so the earlier format is used until a rotation or `secrets:re-encrypt` has written the present one.
   */
  private async sealNew(
    query: Query,
    tenantId: string,
    created: IdentifiedSecret,
  ): Promise<{ sealed: string; recorded: { secretId?: string } }> {
    if (await isEarlierFormatOnly(query)) {
      return { sealed: this.secretBox.sealForEarlierVersions(tenantId, created.secret), recorded: {} };
    }
    const sealed = this.secretBox.seal({ tenantId, column: 'current' }, created);
    return { sealed, recorded: { secretId: created.secretId } };
  }

  /** The current secret, sealed for the column of the previous one. @throws Error if it does not open */
  private asPrevious({ id, sealedSecret }: SealedSecrets): { sealed: string; secretId: string } {
    const current = this.openCurrent(id, sealedSecret);
    const sealed = this.secretBox.seal({ tenantId: id, column: 'previous' }, current);
    return { sealed, secretId: current.secretId };
  }

  private openCurrent(tenantId: string, sealedSecret: string): IdentifiedSecret {
    try {
      return this.secretBox.identify({ tenantId, column: 'current' }, sealedSecret);
    } catch (error) {
      const reason = (error as Error).message;
      throw new Error(
        `the present secret of ${tenantId} does not open and cannot stay valid: ${reason}; rotate with overlapSeconds 0`,
        { cause: error },
      );
    }
  }

  private async change<K extends TenantKind>(
    actor: Actor,
    kind: K,
    id: string,
    changes: TenantChanges,
  ): Promise<TenantOf<K>> {
    const tenant = await this.audit.change(actor, async ({ query }, record) => {
      const before = isIdentifier(id) ? await this.store.lockedTenant(query, kind, id) : undefined;
      const after = before && (await this.store.changeTenant(query, kind, id, changes));
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
    return {
      id,
      name,
      status: status ?? ('ACTIVE' as const),
      ...(requestsPerSecond != null && { requestsPerSecond }),
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
