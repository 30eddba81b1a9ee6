import { Module } from '@nestjs/common';
import { OutboundModule } from '../outbound/outbound.module.js';
import { CallbackStore } from './callback.store.js';
import { ProviderCallbacks } from './provider-callbacks.service.js';

@Module({
  imports: [OutboundModule],
  providers: [ProviderCallbacks, CallbackStore],
  exports: [ProviderCallbacks],
})
export class ProviderCallbackModule {}
