import { Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';
import { Randomness } from './randomness.js';
import { RedisConnection } from './redis.js';

@Global()
@Module({ providers: [Clock, Randomness, RedisConnection], exports: [Clock, Randomness, RedisConnection] })
export class RuntimeModule {}
