import { applyDecorators } from '@nestjs/common';
import { ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { ApiErrors } from '../http/api-errors.js';

/** Documents what every signed route shares: the four headers, and what may be refused before its own work. */
export function ApiSigned(): ClassDecorator {
  return applyDecorators(
    ApiSecurity({ 'X-Tenant-ID': [], 'X-Timestamp': [], 'X-Nonce': [], 'X-Signature': [] }),
    ApiErrors('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_ENCODING', 'RATE_LIMITED', 'INTERNAL'),
    ApiResponse({
      status: 401,
      description:
        'The signature does not hold (plain text, `invalid signature`), or what the route says of 401',
      content: { 'text/plain': { schema: { type: 'string', example: 'invalid signature' } } },
    }),
  );
}
