import { Global, Module } from '@nestjs/common';
import { Background } from './background.js';
import { Clock } from './clock.js';
import { Lifecycle } from './lifecycle.js';
import { Randomness } from './randomness.js';
import { RedisConnection } from './redis.js';

@Global()
@Module({
  providers: [Background, Clock, Lifecycle, Randomness, RedisConnection],
  exports: [Background, Clock, Lifecycle, Randomness, RedisConnection],
})
export class RuntimeModule {}
