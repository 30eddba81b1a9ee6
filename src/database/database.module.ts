import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Configuration } from '../config/configuration.js';
import { dataSourceOptions, openDataSource } from './data-source.js';
import { Database } from './database.js';
import { DatabaseClock } from './database-clock.js';
import { DatabaseGauges } from './database.gauges.js';
import { GroupCommit } from './group-commit.js';
import { SettingsProbe } from './settings-probe.js';
import { Turns } from './turns.js';

@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [Configuration],
      useFactory: (configuration: Configuration) => ({
        ...dataSourceOptions(databaseUrl(configuration)),
        // With Nest's retries, a wrong password would be reported only after half a minute.
        retryAttempts: 0,
        autoLoadEntities: true,
      }),
      dataSourceFactory: (options) => openDataSource((options as { url: string }).url, options?.entities),
    }),
  ],
  providers: [Database, DatabaseClock, DatabaseGauges, GroupCommit, SettingsProbe, Turns],
  exports: [Database, DatabaseClock, GroupCommit, Turns],
})
export class DatabaseModule {}

function databaseUrl(configuration: Configuration): string {
  if (!configuration.databaseUrl)
    throw new Error('no database URL: start the embedded database before the application');
  return configuration.databaseUrl;
}
