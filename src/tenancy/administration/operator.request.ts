import {
  BaseUrl,
  Currencies,
  Name,
  RequestsPerSecond,
  StatusField,
  TenantId,
  WalletAdapter,
  WalletTimeoutMs,
} from './fields.js';
import type { Status } from '../status.js';

/** Contract, section 7. */
export class CreateOperatorRequest {
  @TenantId('nova-casino')
  id: string;

  @Name('Nova Casino', 'required')
  name: string;

  @BaseUrl('https://wallet.nova.example/v2', 'required')
  walletBaseUrl: string;

  @WalletAdapter()
  walletAdapter?: string;

  @WalletTimeoutMs()
  walletTimeoutMs?: number | null;

  @Currencies()
  currencies?: string[] | null;

  @StatusField()
  status?: Status;

  @RequestsPerSecond()
  requestsPerSecond?: number | null;
}

/** An absent field stays unchanged; null resets a field to its default. */
export class ChangeOperatorRequest {
  @Name('Example Casino', 'optional')
  name?: string;

  @BaseUrl('https://wallet.lucky.example/v2', 'optional')
  walletBaseUrl?: string;

  @WalletAdapter()
  walletAdapter?: string;

  @WalletTimeoutMs()
  walletTimeoutMs?: number | null;

  @Currencies()
  currencies?: string[] | null;

  @StatusField()
  status?: Status;

  @RequestsPerSecond()
  requestsPerSecond?: number | null;
}
