import { ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { Expose, Type } from 'class-transformer';
import { ExposeUnlessNull } from '../../api/answer.js';
import type { Columns } from '../../api/lists/list.js';
import { PauseResponse } from '../pauses/pause.request.js';
import { EXAMPLE_SECRET } from '../secrets/secret.request.js';
import type { Status } from '../status.js';

/** The secret of a new tenant. Only the response to its creation contains it. */
class ShownOnce {
  @ApiProperty({
    description: 'the key of the signature; it is shown here and never again',
    example: EXAMPLE_SECRET,
  })
  secret: string;
}

/** The fields that providers and operators share, with examples. */
function tenantResponse(id: string, name: string) {
  class TenantResponse {
    @Expose()
    @ApiProperty({ example: id })
    id: string;

    @Expose()
    @ApiProperty({ example: name })
    name: string;

    @Expose()
    @ApiProperty({ enum: ['ACTIVE', 'DISABLED'] })
    status: Status;

    @ExposeUnlessNull()
    @Type(() => PauseResponse)
    @ApiPropertyOptional({ type: PauseResponse, description: 'absent: not paused' })
    pause?: PauseResponse;

    @ExposeUnlessNull()
    @ApiPropertyOptional({ type: 'integer', description: 'absent: `REQUESTS_PER_SECOND`', example: 500 })
    requestsPerSecond?: number;

    @Expose()
    @ApiProperty()
    createdAt: Date;

    @Expose()
    @ApiProperty()
    updatedAt: Date;
  }
  return TenantResponse;
}

export class ProviderResponse extends tenantResponse('acme-games', 'Acme Games') {
  @Expose()
  @ApiProperty({ enum: ['PROVIDER'] })
  kind: 'PROVIDER';

  @Expose()
  @ApiProperty({ example: 'https://rgs.acme.example/croupier' })
  webhookBaseUrl: string;

  @Expose()
  @ApiProperty({ type: 'integer', example: 0 })
  lateSettlementSeconds: number;
}

export const PROVIDER_COLUMNS: Columns<ProviderResponse> = {
  kind: true,
  id: true,
  name: true,
  status: true,
  webhookBaseUrl: true,
  lateSettlementSeconds: true,
  requestsPerSecond: true,
  createdAt: true,
  updatedAt: true,
  pause: true,
};

export class CreatedProviderResponse extends IntersectionType(ProviderResponse, ShownOnce) {}

export class ProviderListResponse {
  @ApiProperty({ type: [ProviderResponse] })
  items: ProviderResponse[];

  @ApiPropertyOptional({ description: 'absent on the last page', example: 'YWNtZS1nYW1lcw' })
  nextCursor?: string;
}

export class OperatorResponse extends tenantResponse('example-casino', 'Example Casino') {
  @Expose()
  @ApiProperty({ enum: ['OPERATOR'] })
  kind: 'OPERATOR';

  @Expose()
  @ApiProperty({ example: 'https://wallet.lucky.example/v2' })
  walletBaseUrl: string;

  @Expose()
  @ApiProperty({ example: 'signed-json' })
  walletAdapter: string;

  @ExposeUnlessNull()
  @ApiPropertyOptional({ type: 'integer', description: 'absent: `OPERATOR_TIMEOUT_MS`', example: 5000 })
  walletTimeoutMs?: number;

  @ExposeUnlessNull()
  @ApiPropertyOptional({ type: [String], description: 'absent: any', example: ['EUR', 'USD'] })
  currencies?: string[];
}

export const OPERATOR_COLUMNS: Columns<OperatorResponse> = {
  kind: true,
  id: true,
  name: true,
  status: true,
  walletBaseUrl: true,
  walletAdapter: true,
  walletTimeoutMs: true,
  currencies: true,
  requestsPerSecond: true,
  createdAt: true,
  updatedAt: true,
  pause: true,
};

export class CreatedOperatorResponse extends IntersectionType(OperatorResponse, ShownOnce) {}

export class OperatorListResponse {
  @ApiProperty({ type: [OperatorResponse] })
  items: OperatorResponse[];

  @ApiPropertyOptional({ description: 'absent on the last page', example: 'YWNtZS1nYW1lcw' })
  nextCursor?: string;
}
