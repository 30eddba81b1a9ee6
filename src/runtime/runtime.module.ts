import { Global, Module } from '@nestjs/common';
import { Background } from './background.js';
import { Clock } from './clock.js';
import { Instance } from './instance.js';
import { Lifecycle } from './lifecycle.js';
import { Randomness } from './randomness.js';
import { RedisConnection } from './redis.js';

@Global()
@Module({
  providers: [Background, Clock, Instance, Lifecycle, Randomness, RedisConnection],
  exports: [Background, Clock, Instance, Lifecycle, Randomness, RedisConnection],
})
export class RuntimeModule {}
