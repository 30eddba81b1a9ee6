import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { HealthScoresModule } from '../health-scores/health-scores.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { Callback } from './callback.entity.js';
import { CallbackStore } from './callback.store.js';
import { CallbacksAdminController } from './callbacks.admin.controller.js';
import { ProviderCallbacks } from './provider-callbacks.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Callback]), OutboundModule, HealthScoresModule],
  controllers: [CallbacksAdminController],
  providers: [ProviderCallbacks, CallbackStore],
  exports: [ProviderCallbacks],
})
export class ProviderCallbackModule {}
