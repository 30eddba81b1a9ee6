import { Global, Module } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { Audit } from './audit.service.js';
import { AuditStore } from './audit.store.js';
import { HeadReporter } from './head-reporter.js';
import { Refusals } from './refusals.js';
import { RepeatedEntries } from './repeated-entries.js';
import { Sealer } from './sealer.js';

@Global()
@Module({
  providers: [
    Audit,
    AuditStore,
    HeadReporter,
    Refusals,
    RepeatedEntries,
    {
      provide: Sealer,
      inject: [Configuration],
      useFactory: (configuration: Configuration) => new Sealer(configuration),
    },
  ],
  exports: [Audit, Refusals, RepeatedEntries],
})
export class AuditModule {}
