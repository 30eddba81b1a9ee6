import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboundModule } from '../outbound/outbound.module.js';
import { AdminGuard } from './admin.guard.js';
import { AdminTokens } from './admin-tokens.service.js';
import { Administrators } from './administrators.service.js';
import { AuditAdminController } from './audit.admin.controller.js';
import { KeyAdministration } from './key-administration.service.js';
import { AdminKey } from './key.entity.js';
import { KeyStore } from './key.store.js';
import { KeysAdminController } from './keys.admin.controller.js';
import { MeAdminController } from './me.admin.controller.js';
import { WrongKeyLimit } from './wrong-key-limit.js';

@Module({
  imports: [TypeOrmModule.forFeature([AdminKey]), OutboundModule],
  controllers: [KeysAdminController, MeAdminController, AuditAdminController],
  providers: [AdminGuard, AdminTokens, Administrators, KeyAdministration, KeyStore, WrongKeyLimit],
  exports: [AdminGuard, Administrators, KeyAdministration],
})
export class AdminModule {}
