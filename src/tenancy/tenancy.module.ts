import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { HealthModule } from '../health/health.module.js';
import { Game } from './game.entity.js';
import { GameStore } from './game.store.js';
import { GameAdministration } from './administration/game-administration.js';
import { GamesAdminController } from './administration/games.admin.controller.js';
import {
  OperatorsAdminController,
  ProvidersAdminController,
} from './administration/tenants.admin.controller.js';
import { Pause } from './pauses/pause.entity.js';
import { PausesAdminController } from './pauses/pauses.admin.controller.js';
import { PauseStore } from './pauses/pause.store.js';
import { PausesService } from './pauses/pauses.service.js';
import { SecretBox } from './secrets/secret-box.js';
import { TenancyService } from './tenancy.service.js';
import { TenancyStore } from './tenancy.store.js';
import { OperatorEntity, ProviderEntity, TenantEntity } from './tenant.entity.js';
import { TenantStore } from './tenant.store.js';
import { TenantAdministration } from './administration/tenant-administration.js';

@Global()
@Module({
  imports: [
    HealthModule,
    TypeOrmModule.forFeature([TenantEntity, ProviderEntity, OperatorEntity, Game, Pause]),
  ],
  controllers: [
    ProvidersAdminController,
    OperatorsAdminController,
    GamesAdminController,
    PausesAdminController,
  ],
  providers: [
    TenancyService,
    TenancyStore,
    TenantStore,
    GameStore,
    TenantAdministration,
    GameAdministration,
    PausesService,
    PauseStore,
    SecretBox,
  ],
  exports: [TenancyService],
})
export class TenancyModule {}
