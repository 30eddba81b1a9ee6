import { Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';
import { Lifecycle } from './lifecycle.js';
import { Randomness } from './randomness.js';
import { RedisConnection } from './redis.js';

@Global()
@Module({
  providers: [Clock, Lifecycle, Randomness, RedisConnection],
  exports: [Clock, Lifecycle, Randomness, RedisConnection],
})
export class RuntimeModule {}
