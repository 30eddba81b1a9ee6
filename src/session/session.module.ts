import { Module } from '@nestjs/common';
import { SessionOperatorController } from './session.operator.controller.js';
import { SessionProviderController } from './session.provider.controller.js';
import { SessionService } from './session.service.js';
import { SessionStore } from './session.store.js';

@Module({
  controllers: [SessionProviderController, SessionOperatorController],
  providers: [SessionService, SessionStore],
  exports: [SessionService],
})
export class SessionModule {}
