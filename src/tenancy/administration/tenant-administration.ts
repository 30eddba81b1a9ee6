import { Injectable, type Type } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { Audit } from '../../audit/audit.service.js';
import { Configuration } from '../../config/configuration.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { answerOf } from '../../api/answer.js';
import { isIdentifier } from '../../api/validation/identifier.js';
import { checkBaseUrl, normalisedBaseUrl } from '../../outbound/base-url.js';
import { present } from '../../api/lists/item.js';
import { pageById, type PageOf, type PageQuery } from '../../api/lists/page.js';
import { failureText } from '../../runtime/failure-text.js';
import { type EncryptedSecrets, lockSecretsOf, rotateSecrets } from '../secrets/encrypted-secret.store.js';
import { SecretBox } from '../secrets/secret-box.js';
import { type WithPause, PausesService } from '../pauses/pauses.service.js';
import { TenancyService } from '../tenancy.service.js';
import type { TenantEntity } from '../tenant.entity.js';
import type {
  ChangeOperatorRequest,
  ChangeProviderRequest,
  CreateOperatorRequest,
  CreateProviderRequest,
} from './tenant.request.js';
import { OperatorResponse, ProviderResponse, type RotatedSecret } from './tenant.response.js';
import { type NewTenant, type TenantChanges, TenantStore } from '../tenant.store.js';
import { auditTargetOf, nounOf, type TenantKind } from '../tenant.js';

type TenantWithPause = WithPause<TenantEntity>;

/** The audit entry of a change contains the fields that these classes document. */
const RESPONSES: Readonly<Record<TenantKind, Type<ProviderResponse | OperatorResponse>>> = {
  PROVIDER: ProviderResponse,
  OPERATOR: OperatorResponse,
};

/** Creates and changes providers and operators, and their secrets. Contract, section 7. */
@Injectable()
export class TenantAdministration {
  constructor(
    private readonly configuration: Configuration,
    private readonly tenancy: TenancyService,
    private readonly tenants: TenantStore,
    private readonly secretBox: SecretBox,
    private readonly pauses: PausesService,
    private readonly audit: Audit,
  ) {}

  /** @throws CroupierError INVALID_REQUEST · CONFLICT if the id is taken */
  async createProvider(actor: Actor, request: CreateProviderRequest): Promise<{ readonly secret: string }> {
    return this.create(actor, {
      kind: 'PROVIDER',
      ...this.sharedFields(request),
      webhookBaseUrl: this.baseUrl('webhookBaseUrl', request.webhookBaseUrl),
      lateSettlementSeconds: request.lateSettlementSeconds ?? 0,
    });
  }

  /** @throws CroupierError INVALID_REQUEST · CONFLICT if the id is taken */
  async createOperator(actor: Actor, request: CreateOperatorRequest): Promise<{ readonly secret: string }> {
    const { walletTimeoutMs = null, currencies = null } = request;
    this.checkWalletTimeout(walletTimeoutMs);
    return this.create(actor, {
      kind: 'OPERATOR',
      ...this.sharedFields(request),
      walletBaseUrl: this.baseUrl('walletBaseUrl', request.walletBaseUrl),
      walletAdapter: request.walletAdapter ?? 'signed-json',
      walletTimeoutMs,
      currencies,
    });
  }

  /** @throws CroupierError INVALID_REQUEST · NOT_FOUND */
  async changeProvider(actor: Actor, id: string, request: ChangeProviderRequest): Promise<TenantWithPause> {
    const { webhookBaseUrl, lateSettlementSeconds } = request;
    return this.change(actor, 'PROVIDER', id, {
      ...request,
      webhookBaseUrl:
        webhookBaseUrl === undefined ? undefined : this.baseUrl('webhookBaseUrl', webhookBaseUrl),
      lateSettlementSeconds: lateSettlementSeconds === null ? 0 : lateSettlementSeconds,
    });
  }

  /** @throws CroupierError INVALID_REQUEST · NOT_FOUND */
  async changeOperator(actor: Actor, id: string, request: ChangeOperatorRequest): Promise<TenantWithPause> {
    const { walletBaseUrl } = request;
    this.checkWalletTimeout(request.walletTimeoutMs);
    return this.change(actor, 'OPERATOR', id, {
      ...request,
      walletBaseUrl: walletBaseUrl === undefined ? undefined : this.baseUrl('walletBaseUrl', walletBaseUrl),
    });
  }

  /**
   * Creates a new secret. The current secret stays valid for the overlap; an older one becomes invalid at once.
   * @param overlapSeconds 0 makes the current secret invalid at once
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
      const stored = isIdentifier(id) ? await lockSecretsOf(query, kind, id) : undefined;
      if (!stored) throw unknown(kind);
      const previous = overlapSeconds > 0 ? this.asPrevious(stored) : undefined;
      const rotated = {
        id,
        encryptedSecret: this.secretBox.encrypt({ tenantId: id, column: 'current' }, created),
        previousEncryptedSecret: previous?.encrypted ?? null,
      };
      const validUntil = await rotateSecrets(query, rotated, overlapSeconds);
      await record({
        action: `${nounOf(kind)}.rotate-secret`,
        target: auditTargetOf({ kind, id }),
        after: {
          overlapSeconds,
          previousValidUntil: validUntil,
          secretId: created.secretId,
          ...(previous && { previousSecretId: previous.secretId }),
        },
      });
      return validUntil;
    });
    await this.tenancy.reload();
    return { secret: created.secret, previousValidUntil };
  }

  /** @throws CroupierError NOT_FOUND */
  async find(kind: TenantKind, id: string): Promise<TenantWithPause> {
    const tenant = isIdentifier(id) ? await this.tenants.find(kind, id) : undefined;
    if (!tenant) throw unknown(kind);
    return this.pauses.withPause(kind, id, tenant);
  }

  /** @throws CroupierError INVALID_REQUEST */
  async list(kind: TenantKind, query: PageQuery): Promise<PageOf<TenantWithPause>> {
    const { items, ...page } = await pageById(
      query,
      (after) => this.tenants.list(kind, after),
      (tenant) => tenant.id,
    );
    return { items: await this.pauses.withPauses(kind, items, ({ id }) => id), ...page };
  }

  /** @returns the tenant with its secret */
  private async create(actor: Actor, tenant: NewTenant): Promise<{ readonly secret: string }> {
    const created = this.secretBox.create();
    const stored = await this.audit.change(actor, async (transaction, record) => {
      const encrypted = this.secretBox.encrypt({ tenantId: tenant.id, column: 'current' }, created);
      const inserted = await this.tenants.insert(transaction, tenant, encrypted);
      if (!inserted) throw new CroupierError('CONFLICT', `the id ${tenant.id} is taken`);
      const { createdAt, updatedAt } = inserted;
      const after = present<object>({ ...tenant, createdAt, updatedAt });
      await record({
        action: `${nounOf(tenant.kind)}.create`,
        target: auditTargetOf(tenant),
        after: { ...after, secretId: created.secretId },
      });
      return after;
    });
    await this.tenancy.reload();
    return { ...stored, secret: created.secret };
  }

  /**
   * The current secret, encrypted for the column of the previous one.
   * @throws Error if the current secret cannot be decrypted
   */
  private asPrevious({ id, encryptedSecret }: EncryptedSecrets): { encrypted: string; secretId: string } {
    try {
      const current = this.secretBox.identify({ tenantId: id, column: 'current' }, encryptedSecret);
      const encrypted = this.secretBox.encrypt({ tenantId: id, column: 'previous' }, current);
      return { encrypted, secretId: current.secretId };
    } catch (error) {
      const reason = failureText(error);
      throw new Error(
        `the current secret of ${id} cannot be decrypted and so cannot stay valid: ${reason}; rotate with overlapSeconds 0`,
        { cause: error },
      );
    }
  }

  private async change(
    actor: Actor,
    kind: TenantKind,
    id: string,
    changes: TenantChanges,
  ): Promise<TenantWithPause> {
    const tenant = await this.audit.change(actor, async (transaction, record) => {
      const changed = isIdentifier(id) && (await this.tenants.change(transaction, kind, id, changes));
      if (!changed) throw unknown(kind);
      if (changed.after === changed.before) return changed.after;
      await record({
        action: `${nounOf(kind)}.change`,
        target: auditTargetOf({ kind, id }),
        before: answerOf(RESPONSES[kind], changed.before),
        after: answerOf(RESPONSES[kind], changed.after),
      });
      return changed.after;
    });
    await this.tenancy.reload();
    return this.pauses.withPause(kind, id, tenant);
  }

  private sharedFields(request: CreateProviderRequest | CreateOperatorRequest) {
    const { id, name, status = 'ACTIVE', requestsPerSecond = null } = request;
    return { id, name, status, requestsPerSecond };
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
