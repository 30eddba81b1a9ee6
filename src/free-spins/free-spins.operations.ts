import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
} from '@nestjs/swagger';
import { ApiErrors } from '../openapi/api-errors.js';
import {
  BatchCreatedResponse,
  BatchResponse,
  DetailedGrantResponse,
  GrantResponse,
  GrantStatusResponse,
} from './free-spins.response.js';

/*
 * OpenAPI documentation of the operations on free spins, which administrators and operators share. The lists differ: that of
 * administrators is exported as CSV too.
 */

export const ApiGrant = (request: Type<object>) =>
  applyDecorators(
    ApiOperation({
      summary: 'Grant free spins to a player',
      description:
        'Calls the provider once. The same requestRef and body again answer the stored grant and call nobody; a ' +
        'FAILED grant is answered 502, and `Location` names its record.',
    }),
    ApiBody({ type: request }),
    ApiCreatedResponse({ type: GrantResponse, description: 'granted' }),
    ApiOkResponse({
      type: GrantResponse,
      description: 'this requestRef is known: the stored grant, in whatever state',
    }),
    ApiErrors(
      'INVALID_REQUEST',
      'CONFLICT',
      'PROVIDER_FAILED',
      'GAME_NOT_CONFIGURED',
      'OPERATOR_NOT_CONFIGURED',
    ),
  );

export const ApiGrantBatch = (request: Type<object>) =>
  applyDecorators(
    ApiOperation({
      summary: 'Grant free spins to many players',
      description:
        'Records a grant for each player and calls the provider for one after the other, a few at a time; the ' +
        'batch says how far it is. A provider that is down fails the rest of the batch.',
    }),
    ApiBody({ type: request }),
    ApiAcceptedResponse({ type: BatchCreatedResponse, description: 'recorded' }),
    ApiOkResponse({ type: BatchCreatedResponse, description: 'this batchRef is known: the same batch' }),
    ApiErrors(
      'INVALID_REQUEST',
      'CONFLICT',
      'PAYLOAD_TOO_LARGE',
      'GAME_NOT_CONFIGURED',
      'OPERATOR_NOT_CONFIGURED',
    ),
  );

export const ApiFindBatch = () =>
  applyDecorators(
    ApiOperation({ summary: 'Read a batch', description: 'How far it is, and the grant of each player.' }),
    ApiOkResponse({ type: BatchResponse }),
    ApiErrors('NOT_FOUND'),
  );

export const ApiFindGrant = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Read a grant',
      description: 'The local record, with what was won; the provider is not called.',
    }),
    ApiOkResponse({ type: DetailedGrantResponse }),
    ApiErrors('INVALID_REQUEST', 'NOT_FOUND'),
  );

export const ApiPullStatus = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Ask the provider what is left of a grant',
      description: 'The answer is kept on the record; the state does not change.',
    }),
    ApiOkResponse({ type: GrantStatusResponse }),
    ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'),
  );

export const ApiCancel = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Cancel what is left of a grant',
      description:
        'Spins that were taken stand. Where the provider fails the record still shows the spins as live. A second ' +
        'cancel while one is under way is a 409 with `X-Next-Action: wait-then-retry`.',
    }),
    ApiOkResponse({ type: GrantResponse }),
    ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'),
  );

export const ApiResend = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Send a FAILED grant once more',
      description:
        'One more callback with the same requestRef: a provider that booked the first one answers its batch.',
    }),
    ApiOkResponse({ type: GrantResponse }),
    ApiErrors(
      'INVALID_REQUEST',
      'NOT_FOUND',
      'CONFLICT',
      'PROVIDER_FAILED',
      'GAME_NOT_CONFIGURED',
      'OPERATOR_NOT_CONFIGURED',
    ),
  );
