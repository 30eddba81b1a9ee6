import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Server } from 'node:http';
import { Lifecycle } from '../runtime/lifecycle.js';

/**
 * Closes the listener as the first step of a stop. By default, Nest would accept connections until every module has
 * finished its background work. Requests in flight continue, and Nest waits for them before `onApplicationShutdown`
 * closes the connection pools.
 */
@Injectable()
export class Listener implements OnModuleDestroy {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly lifecycle: Lifecycle,
  ) {}

  onModuleDestroy(): void {
    this.lifecycle.stopping = true;
    (this.adapterHost.httpAdapter.getHttpServer() as Server).close();
  }
}
