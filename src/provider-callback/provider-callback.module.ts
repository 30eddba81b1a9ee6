import { Module } from '@nestjs/common';
import { OutboundModule } from '../outbound/outbound.module.js';
import { CallbackSearchStore } from './callback-search.store.js';
import { CallbackStore } from './callback.store.js';
import { CallbacksAdminController } from './callbacks.admin.controller.js';
import { ProviderCallbacks } from './provider-callbacks.service.js';

@Module({
  imports: [OutboundModule],
  controllers: [CallbacksAdminController],
  providers: [ProviderCallbacks, CallbackStore, CallbackSearchStore],
  exports: [ProviderCallbacks],
})
export class ProviderCallbackModule {}
