import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AdminGuard } from './admin/admin.guard.js';
import { AdminModule } from './admin/admin.module.js';
import { ApprovalsModule } from './approvals/approvals.module.js';
import { AttentionModule } from './attention/attention.module.js';
import { AuditModule } from './audit/audit.module.js';
import type { Configuration } from './config/configuration.js';
import { ConfigurationModule } from './config/configuration.module.js';
import { ConsoleModule } from './console/console.module.js';
import { DeskModule } from './desk/desk.module.js';
import { DatabaseModule } from './database/database.module.js';
import { ErrorFilter } from './server/error.filter.js';
import { FreeSpinsModule } from './free-spins/free-spins.module.js';
import { HealthModule } from './health/health.module.js';
import { HealthScoresModule } from './health-scores/health-scores.module.js';
import { Listener } from './server/listener.js';
import { RawBodyGuard } from './server/raw-body.guard.js';
import { RequestLog } from './server/request-log.js';
import { LimitChangesModule } from './limit-changes/limit-changes.module.js';
import { ObservabilityModule } from './observability/observability.module.js';
import { OutgoingCalls } from './openapi/outgoing-calls.js';
import { WALLET_CALLS } from './operator-wallet/wallet-calls.openapi.js';
import { PROVIDER_CALLBACKS } from './provider-callback/callbacks.openapi.js';
import { LiveModule } from './live/live.module.js';
import { Background } from './runtime/background.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';
import { RuntimeModule } from './runtime/runtime.module.js';
import { SessionModule } from './session/session.module.js';
import { SignatureGuard } from './signature/signature.guard.js';
import { SignatureModule } from './signature/signature.module.js';
import { TenancyModule } from './tenancy/tenancy.module.js';
import { TenantThrottlerGuard } from './throttling/tenant-throttler.guard.js';
import { ThrottlingModule } from './throttling/throttling.module.js';
import { WalletModule } from './wallet/wallet.module.js';

/** The whole application. Its guards run in the order of `providers`. Contract, section 1, "Order of checks". */
@Module({
  imports: [
    // Express tries routes in the order of these modules, so the modules with the most frequent requests come first.
    SessionModule,
    WalletModule,
    DeskModule,
    RuntimeModule,
    HealthModule,
    ObservabilityModule,
    DatabaseModule,
    AuditModule,
    AdminModule,
    TenancyModule,
    SignatureModule,
    ThrottlingModule,
    HealthScoresModule,
    ApprovalsModule,
    LimitChangesModule,
    FreeSpinsModule,
    AttentionModule,
    ReconciliationModule,
    LiveModule,
    ConsoleModule,
  ],
  providers: [
    // Provided here because, at shutdown, Nest runs the hooks of this module before those of all others.
    Listener,
    {
      provide: OutgoingCalls,
      useValue: new OutgoingCalls([...PROVIDER_CALLBACKS, ...WALLET_CALLS]),
    },
    RequestLog,
    { provide: APP_FILTER, useClass: ErrorFilter },
    { provide: APP_GUARD, useClass: RawBodyGuard },
    { provide: APP_GUARD, useExisting: SignatureGuard },
    { provide: APP_GUARD, useExisting: AdminGuard },
    { provide: APP_GUARD, useExisting: TenantThrottlerGuard },
  ],
})
export class AppModule
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  constructor(private readonly background: Background) {}

  static with(configuration: Configuration): DynamicModule {
    return { module: AppModule, imports: [ConfigurationModule.of(configuration)] };
  }

  /** Nest runs this hook of this module after those of all others: background work begins in a started application. */
  onApplicationBootstrap(): void {
    this.background.start();
  }

  /** Does not wait, so that nothing else stops later. */
  onModuleDestroy(): void {
    void this.background.stop();
  }

  /** Waits for the background work. Nest then waits for the last requests. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.background.stop();
  }

  /** Nest runs this hook of this module before those of all others: the connections to the database are still open. */
  async onApplicationShutdown(): Promise<void> {
    await this.background.finish();
  }
}
