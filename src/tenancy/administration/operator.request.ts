import {
  BaseUrl,
  Name,
  RequestsPerSecond,
  StatusField,
  TenantId,
  WalletAdapter,
  WalletTimeoutMs,
} from './fields.js';
import type { Status } from '../status.js';

/** Contract, section 7, "Operators". */
export class CreateOperatorRequest {
  @TenantId('lucky-casino')
  id: string;

  @Name('Lucky Casino', 'required')
  name: string;

  @BaseUrl('https://wallet.lucky.example/v2', 'required')
  walletBaseUrl: string;

  @WalletAdapter()
  walletAdapter?: string;

  @WalletTimeoutMs()
  walletTimeoutMs?: number | null;

  @StatusField()
  status?: Status;

  @RequestsPerSecond()
  requestsPerSecond?: number | null;
}

/** What is left out stays; null goes back to the default. */
export class ChangeOperatorRequest {
  @Name('Lucky Casino', 'optional')
  name?: string;

  @BaseUrl('https://wallet.lucky.example/v2', 'optional')
  walletBaseUrl?: string;

  @WalletAdapter()
  walletAdapter?: string;

  @WalletTimeoutMs()
  walletTimeoutMs?: number | null;

  @StatusField()
  status?: Status;

  @RequestsPerSecond()
  requestsPerSecond?: number | null;
}
