import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { verifyPlatformSignature } from '@croupier/provider-sdk';
import { actsAs } from '../audit/actor.js';
import { Configuration } from '../config/configuration.js';
import { CroupierError, InvalidSignatureError } from '../errors/croupier-error.js';
import { CALLER, type Caller } from '../api/caller.js';
import { pathOf } from '../server/express-adapter.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { Metrics } from '../observability/metrics.js';
import { recordDuration } from '../observability/trace.js';
import { Clock, monotonicMs } from '../runtime/clock.js';
import { Randomness } from '../runtime/randomness.js';
import type { Operator, Provider } from '../tenancy/tenant.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { Nonces } from './nonces.js';
import type { RateRecord } from './rate-record.js';
import type { SignedRequest } from './tenant.decorator.js';

/**
 * Admits a request only if its signature over the raw bytes is valid and its tenant is of the kind that the route
 * declares (by default: a provider). An invalid signature costs no database access. Contract, section 1, "Signature".
 */
@Injectable()
export class SignatureGuard implements CanActivate {
  private readonly logger = new BoundedLogger('Signature');
  /** Verifies requests of unknown tenants, so that refusing them takes as much work as refusing a wrong signature. */
  private readonly decoySecret: string;

  constructor(
    private readonly reflector: Reflector,
    private readonly configuration: Configuration,
    private readonly tenancy: TenancyService,
    private readonly nonces: Nonces,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    randomness: Randomness,
  ) {
    this.decoySecret = randomness.secret();
  }

  async canActivate(context: ExecutionContext): Promise<true> {
    const declared = this.reflector.getAllAndOverride<Caller | undefined>(CALLER, [
      context.getHandler(),
      context.getClass(),
    ]);
    const caller = declared ?? 'provider';
    if (caller === 'unsigned') return true;
    const request = context.switchToHttp().getRequest<SignedRequest>();
    const startedMs = monotonicMs();
    try {
      const tenant = this.signer(request, caller);
      const nonce = header(request, 'x-nonce');
      return this.admit(request, tenant, await this.nonces.claim(tenant, nonce));
    } finally {
      recordDuration('signature', startedMs);
    }
  }

  /**
   * Puts the tenant and its request count on the request.
   * @throws InvalidSignatureError if the nonce was used before
   */
  private admit(request: SignedRequest, tenant: Provider | Operator, rate: RateRecord | undefined): true {
    if (!rate) throw this.refusal(request, 'nonce_replayed', tenant.id);
    request.tenant = tenant;
    request.rateRecord = rate;
    if (tenant.kind === 'OPERATOR') {
      const admittedAt = this.clock.unixSeconds();
      actsAs(request, { actor: `operator:${tenant.id}`, role: 'operator' }, () =>
        this.isStillAdmitted(request, tenant.id, admittedAt),
      );
    }
    return true;
  }

  /**
   * Whether the operator is still active, and a secret that is valid now has signed the request.
   * @param admittedAt in Unix seconds: the timestamp of the request may have become too old since
   */
  private isStillAdmitted(request: SignedRequest, operatorId: string, admittedAt: number): boolean {
    const secrets = this.tenancy.verificationSecrets(operatorId);
    const isActive = this.tenancy.operator(operatorId)?.status === 'ACTIVE';
    return (
      this.tenancy.isFresh() &&
      isActive &&
      secrets !== undefined &&
      this.verify(request, operatorId, secrets, admittedAt).ok
    );
  }

  /** @throws InvalidSignatureError · CroupierError CONFIGURATION_UNAVAILABLE */
  private signer(request: SignedRequest, caller: 'provider' | 'operator'): Provider | Operator {
    const tenantId = header(request, 'x-tenant-id');
    const known = this.tenancy.verificationSecrets(tenantId);
    const secrets = known ?? [this.decoySecret];
    const verification = this.verify(request, tenantId, secrets, this.clock.unixSeconds());
    // A 401 is final for the caller, whose signature may be valid.
    if (this.tenancy.isUnreadable(tenantId)) throw new CroupierError('CONFIGURATION_UNAVAILABLE');
    if (!known) throw this.refusal(request, 'unknown_tenant');
    if (!verification.ok) throw this.refusal(request, verification.reason, tenantId);
    // The tenant may have been disabled, or its secret replaced, since the directory was read.
    this.tenancy.assertFresh();
    const tenant = caller === 'provider' ? this.tenancy.provider(tenantId) : this.tenancy.operator(tenantId);
    if (!tenant) throw this.refusal(request, 'tenant_of_another_kind', tenantId);
    if (tenant.status !== 'ACTIVE') throw this.refusal(request, 'tenant_disabled', tenantId);
    return tenant;
  }

  private verify(request: SignedRequest, tenantId: string, secrets: readonly string[], now: number) {
    return verifyPlatformSignature({
      method: request.method,
      path: request.originalUrl,
      headers: request.headers,
      body: request.body as Buffer,
      secrets,
      tenantId,
      now,
      toleranceSeconds: this.configuration.signatureToleranceSeconds,
    });
  }

  /**
   * Counts and logs a refusal. The answer to the caller is always the same; the reason goes to the log and the metrics.
   * @param tenantId undefined for an unknown tenant, because some integrators send their secret as the tenant id
   */
  private refusal(request: SignedRequest, reason: string, tenantId?: string): InvalidSignatureError {
    this.metrics.signatureFailures.inc({ reason });
    this.logger.warn({
      msg: 'signature refused',
      reason,
      tenantId,
      path: pathOf(request),
      address: request.ip,
    });
    return new InvalidSignatureError();
  }
}

function header({ headers }: SignedRequest, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}
