import 'reflect-metadata';
import { type NestRequest, type NestResponse, toNestHandler } from '@croupier/provider-sdk';
import { Controller, Inject, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { callbacks, type Running, type Settings } from './provider.js';

const CALLBACKS = 'callbacks';

@Controller('rgs/v1')
class CallbacksController {
  constructor(@Inject(CALLBACKS) private readonly handle: ReturnType<typeof toNestHandler>) {}

  @Post(['game/free-spins/:callback', 'game/session/revoke', 'test/free-spins/play'])
  callback(@Req() request: NestRequest, @Res() response: NestResponse): Promise<void> {
    return this.handle(request, response);
  }
}

@Module({ controllers: [CallbacksController] })
class ProviderModule {}

/** A provider on Nest: `rawBody` keeps the received bytes beside the parsed body. */
export async function startNest(settings: Settings): Promise<Running> {
  const provider = { provide: CALLBACKS, useValue: toNestHandler(callbacks(settings)) };
  const module = { module: ProviderModule, providers: [provider] };
  const app = await NestFactory.create(module, { rawBody: true, logger: false });
  await app.listen(settings.port, '127.0.0.1');
  return { url: `${await app.getUrl()}/rgs`, stop: () => app.close() };
}
