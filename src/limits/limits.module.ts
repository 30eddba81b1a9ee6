import { Module } from '@nestjs/common';
import { LimitStore } from './limit.store.js';
import { LimitsAdminController } from './limits.admin.controller.js';
import { LimitsService } from './limits.service.js';
import { TradedCurrencies } from './traded-currencies.js';
import { TradedCurrencyStore } from './traded-currency.store.js';

@Module({
  controllers: [LimitsAdminController],
  providers: [LimitsService, LimitStore, TradedCurrencies, TradedCurrencyStore],
  exports: [LimitsService, TradedCurrencies],
})
export class LimitsModule {}
