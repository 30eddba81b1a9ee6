import { BaseUrl, LateSettlementSeconds, Name, RequestsPerSecond, StatusField, TenantId } from './fields.js';
import type { Status } from '../status.js';

/** Contract, section 7. */
export class CreateProviderRequest {
  @TenantId('nova-games')
  id: string;

  @Name('Nova Games', 'required')
  name: string;

  @BaseUrl('https://rgs.nova.example/croupier', 'required')
  webhookBaseUrl: string;

  @StatusField()
  status?: Status;

  @RequestsPerSecond()
  requestsPerSecond?: number | null;

  @LateSettlementSeconds()
  lateSettlementSeconds?: number | null;
}

/** An absent field stays unchanged; null resets a field to its default. */
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
