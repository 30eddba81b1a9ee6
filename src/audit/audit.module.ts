import { Global, Module } from '@nestjs/common';
import { Audit } from './audit.service.js';
import { AuditStore } from './audit.store.js';

@Global()
@Module({ providers: [Audit, AuditStore], exports: [Audit] })
export class AuditModule {}
