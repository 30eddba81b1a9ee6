import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ProviderCallbackModule } from '../provider-callback/provider-callback.module.js';
import { RevocationNotifier } from './revocation.notifier.js';
import { RevocationStore } from './revocation.store.js';
import { SessionAdminController } from './session.admin.controller.js';
import { SessionOperatorController } from './session.operator.controller.js';
import { SessionProviderController } from './session.provider.controller.js';
import { Session } from './session.entity.js';
import { SessionDesk } from './session-desk.service.js';
import { SessionOwners } from './session-owners.js';
import { SessionService } from './session.service.js';
import { SessionStore } from './session.store.js';

@Module({
  imports: [TypeOrmModule.forFeature([Session]), ProviderCallbackModule],
  controllers: [SessionProviderController, SessionOperatorController, SessionAdminController],
  providers: [SessionService, SessionOwners, SessionStore, RevocationNotifier, RevocationStore, SessionDesk],
  exports: [SessionService, SessionOwners, SessionDesk],
})
export class SessionModule {}
