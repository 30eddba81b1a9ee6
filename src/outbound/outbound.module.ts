import { HttpModule } from '@nestjs/axios';
import { Module } from '@nestjs/common';
import { CallSigner } from './call-signer.js';
import { CallbackHttp } from './callback-http.js';
import { Outbound } from './outbound.service.js';

@Module({
  imports: [HttpModule.register({})],
  providers: [Outbound, CallbackHttp, CallSigner],
  exports: [Outbound, CallbackHttp],
})
export class OutboundModule {}
