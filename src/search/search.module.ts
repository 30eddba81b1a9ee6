import { Module } from '@nestjs/common';
import { WalletModule } from '../wallet/wallet.module.js';
import { SearchAdminController } from './search.admin.controller.js';
import { SearchService } from './search.service.js';
import { SearchStore } from './search.store.js';

@Module({
  imports: [WalletModule],
  controllers: [SearchAdminController],
  providers: [SearchService, SearchStore],
})
export class SearchModule {}
