import { Global, Module } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { Randomness } from '../runtime/randomness.js';
import { GameAdministration } from './game-administration.js';
import { GamesAdminController } from './games.admin.controller.js';
import { OperatorsAdminController } from './operators.admin.controller.js';
import { ProvidersAdminController } from './providers.admin.controller.js';
import { SecretBox } from './secret-box.js';
import { TenancyService } from './tenancy.service.js';
import { TenancyStore } from './tenancy.store.js';
import { TenantAdministration } from './tenant-administration.js';

@Global()
@Module({
  controllers: [ProvidersAdminController, OperatorsAdminController, GamesAdminController],
  providers: [
    TenancyService,
    TenancyStore,
    TenantAdministration,
    GameAdministration,
    {
      provide: SecretBox,
      inject: [Configuration, Randomness],
      useFactory: (configuration: Configuration, randomness: Randomness) =>
        new SecretBox(configuration.secretsKey, randomness, configuration.secretsKeyPrevious),
    },
  ],
  exports: [TenancyService],
})
export class TenancyModule {}
