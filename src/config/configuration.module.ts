import { type DynamicModule, Module } from '@nestjs/common';
import { Configuration } from './configuration.js';

@Module({})
export class ConfigurationModule {
  static of(configuration: Configuration): DynamicModule {
    return {
      module: ConfigurationModule,
      global: true,
      providers: [{ provide: Configuration, useValue: configuration }],
      exports: [Configuration],
    };
  }
}
