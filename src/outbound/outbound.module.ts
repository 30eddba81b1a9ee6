import { HttpModule } from '@nestjs/axios';
import { Module } from '@nestjs/common';
import { CallSigner } from './call-signer.js';
import { CallbackHttp } from './callback-http.js';
import { IssuerKeys } from './issuer-keys.js';
import { Resolver } from './resolver.js';
import { Outbound } from './outbound.service.js';

@Module({
  imports: [HttpModule.register({})],
  providers: [Outbound, CallbackHttp, CallSigner, IssuerKeys, Resolver],
  exports: [Outbound, CallbackHttp, IssuerKeys],
})
export class OutboundModule {}
