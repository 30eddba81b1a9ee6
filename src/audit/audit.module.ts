import { Global, Module } from '@nestjs/common';
import { Audit } from './audit.service.js';
import { AuditStore } from './audit.store.js';
import { HeadReporter } from './head-reporter.js';
import { Reads } from './reads.js';
import { Refusals } from './refusals.js';
import { RepeatedEntries } from './repeated-entries.js';
import { Sealer } from './sealer.js';

@Global()
@Module({
  providers: [Audit, AuditStore, HeadReporter, Reads, Refusals, RepeatedEntries, Sealer],
  exports: [Audit, Reads, Refusals, RepeatedEntries],
})
export class AuditModule {}
