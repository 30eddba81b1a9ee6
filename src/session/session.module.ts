import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ProviderCallbackModule } from '../provider-callback/provider-callback.module.js';
import { RevocationNotifier } from './revocation.notifier.js';
import { RevocationStore } from './revocation.store.js';
import { Session } from './session.entity.js';
import {
  SessionAdminController,
  SessionOperatorController,
  SessionProviderController,
} from './session.controller.js';
import { SessionOwners } from './session-owners.js';
import { SessionService } from './session.service.js';
import { SessionStore } from './session.store.js';

@Module({
  imports: [TypeOrmModule.forFeature([Session]), ProviderCallbackModule],
  controllers: [SessionProviderController, SessionOperatorController, SessionAdminController],
  providers: [SessionService, SessionOwners, SessionStore, RevocationNotifier, RevocationStore],
  exports: [SessionService, SessionOwners],
})
export class SessionModule {}
