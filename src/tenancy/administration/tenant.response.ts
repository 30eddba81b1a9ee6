import { ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { type Columns, listOf } from '../../api/lists/list.js';
import { PauseResponse } from '../pauses/pause.response.js';
import type { Status } from '../tenant.entity.js';

const EXAMPLE_SECRET = 'Jv1p0TqLx8bWm3dR6yKzH2nUcEoGsAfi5X9tQ7hVwZk';

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
    @ApiProperty({ example: id })
    id: string;

    @ApiProperty({ example: name })
    name: string;

    @ApiProperty({ enum: ['ACTIVE', 'DISABLED'] })
    status: Status;

    @ApiPropertyOptional({ type: PauseResponse, description: 'absent: not paused' })
    pause?: PauseResponse;

    @ApiPropertyOptional({ type: 'integer', description: 'absent: `REQUESTS_PER_SECOND`', example: 500 })
    requestsPerSecond?: number;

    @ApiProperty()
    createdAt: Date;

    @ApiProperty()
    updatedAt: Date;
  }
  return TenantResponse;
}

export class ProviderResponse extends tenantResponse('acme-games', 'Acme Games') {
  @ApiProperty({ enum: ['PROVIDER'] })
  kind: 'PROVIDER';

  @ApiProperty({ example: 'https://rgs.acme.example/croupier' })
  webhookBaseUrl: string;

  @ApiProperty({ type: 'integer', example: 0 })
  lateSettlementSeconds: number;
}

const FIRST_COLUMNS = { kind: true, id: true, name: true, status: true } as const;
const LAST_COLUMNS = { requestsPerSecond: true, createdAt: true, updatedAt: true, pause: true } as const;

export const PROVIDER_COLUMNS: Columns<ProviderResponse> = {
  ...FIRST_COLUMNS,
  webhookBaseUrl: true,
  lateSettlementSeconds: true,
  ...LAST_COLUMNS,
};

export class CreatedProviderResponse extends IntersectionType(ProviderResponse, ShownOnce) {}

export class ProviderListResponse extends listOf(ProviderResponse) {}

export class OperatorResponse extends tenantResponse('example-casino', 'Example Casino') {
  @ApiProperty({ enum: ['OPERATOR'] })
  kind: 'OPERATOR';

  @ApiProperty({ example: 'https://wallet.lucky.example/v2' })
  walletBaseUrl: string;

  @ApiProperty({ example: 'signed-json' })
  walletAdapter: string;

  @ApiPropertyOptional({ type: 'integer', description: 'absent: `OPERATOR_TIMEOUT_MS`', example: 5000 })
  walletTimeoutMs?: number;

  @ApiPropertyOptional({ type: [String], description: 'absent: any', example: ['EUR', 'USD'] })
  currencies?: string[];
}

export const OPERATOR_COLUMNS: Columns<OperatorResponse> = {
  ...FIRST_COLUMNS,
  walletBaseUrl: true,
  walletAdapter: true,
  walletTimeoutMs: true,
  currencies: true,
  ...LAST_COLUMNS,
};

export class CreatedOperatorResponse extends IntersectionType(OperatorResponse, ShownOnce) {}

export class OperatorListResponse extends listOf(OperatorResponse) {}

export class RotatedSecret {
  @ApiProperty({ description: 'the new secret; it is shown here and never again', example: EXAMPLE_SECRET })
  secret: string;

  @ApiProperty({
    description: 'until then incoming calls may use either secret, and outgoing calls use the previous one',
  })
  previousValidUntil: Date;
}
