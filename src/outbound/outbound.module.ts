import { HttpModule } from '@nestjs/axios';
import { Module } from '@nestjs/common';
import { CallSigner } from './call-signer.js';
import { CallbackHttp } from './callback-http.js';
import { IssuerKeys } from './issuer-keys.js';
import { HostResolver } from './host-resolver.js';
import { Outbound } from './outbound.service.js';

@Module({
  imports: [HttpModule.register({})],
  providers: [Outbound, CallbackHttp, CallSigner, IssuerKeys, HostResolver],
  exports: [Outbound, CallbackHttp, IssuerKeys],
})
export class OutboundModule {}
