import { Module } from '@nestjs/common';
import { ProviderCallbackModule } from '../provider-callback/provider-callback.module.js';
import { RevocationNotifier } from './revocation.notifier.js';
import { RevocationStore } from './revocation.store.js';
import { SessionAdminController } from './session.admin.controller.js';
import { SessionOperatorController } from './session.operator.controller.js';
import { SessionProviderController } from './session.provider.controller.js';
import { SessionService } from './session.service.js';
import { SessionStore } from './session.store.js';

@Module({
  imports: [ProviderCallbackModule],
  controllers: [SessionProviderController, SessionOperatorController, SessionAdminController],
  providers: [SessionService, SessionStore, RevocationNotifier, RevocationStore],
  exports: [SessionService],
})
export class SessionModule {}
