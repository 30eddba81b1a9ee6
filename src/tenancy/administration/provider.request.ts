import { BaseUrl, LateSettlementSeconds, Name, RequestsPerSecond, StatusField, TenantId } from './fields.js';
import type { Status } from '../status.js';

/** Contract, section 7, "Providers". */
export class CreateProviderRequest {
  @TenantId('acme-games')
  id: string;

  @Name('Acme Games', 'required')
  name: string;

  @BaseUrl('https://rgs.acme.example/croupier', 'required')
  webhookBaseUrl: string;

  @StatusField()
  status?: Status;

  @RequestsPerSecond()
  requestsPerSecond?: number | null;

  @LateSettlementSeconds()
  lateSettlementSeconds?: number | null;
}

/** What is left out stays; null goes back to the default. */
export class ChangeProviderRequest {
  @Name('Acme Games', 'optional')
  name?: string;

  @BaseUrl('https://rgs.acme.example/croupier', 'optional')
  webhookBaseUrl?: string;

  @StatusField()
  status?: Status;

  @RequestsPerSecond()
  requestsPerSecond?: number | null;

  @LateSettlementSeconds()
  lateSettlementSeconds?: number | null;
}
