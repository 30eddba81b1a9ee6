import type { Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { AuditQuery } from '../../src/admin/audit.request.js';
import { CreateKeyRequest } from '../../src/admin/key.request.js';
import { ApprovalQuery, RejectRequest } from '../../src/approvals/approval.request.js';
import {
  AssignRequest,
  AssignSeveralRequest,
  AttentionQuery,
  CloseRequest,
  CloseSeveralRequest,
  CommentRequest,
  SnoozeRequest,
  SnoozeSeveralRequest,
} from '../../src/attention/attention.request.js';
import {
  AdminBatchQuery,
  AdminBatchRequest,
  AdminGrantQuery,
  AdminGrantRequest,
  FindBatchQuery,
  FlaggedWinQuery,
  OperatorBatchQuery,
  OperatorBatchRequest,
  OperatorGrantQuery,
  OperatorGrantRequest,
  ResendBatchRequest,
} from '../../src/free-spins/free-spins.request.js';
import { ListQuery, PageQuery } from '../../src/api/lists/page.js';
import { PatchLimitRequest, PutLimitRequest } from '../../src/limits/limit.request.js';
import { CallbackQuery } from '../../src/provider-callback/callback.admin.request.js';
import {
  ReconciliationQuery,
  ReconciliationRequest,
} from '../../src/reconciliation/reconciliation.request.js';
import { SearchQuery } from '../../src/desk/search/search.request.js';
import {
  LaunchRequest,
  OperatorSessionQuery,
  RevokeRequest,
  SessionQuery,
  SessionTokenRequest,
} from '../../src/session/session.request.js';
import { PutGameRequest } from '../../src/tenancy/administration/game.request.js';
import {
  ChangeOperatorRequest,
  ChangeProviderRequest,
  CreateOperatorRequest,
  CreateProviderRequest,
  RotateSecretRequest,
} from '../../src/tenancy/administration/tenant.request.js';
import { PauseRequest, ResumeRequest } from '../../src/tenancy/pauses/pause.request.js';
import { AdjustmentRequest } from '../../src/desk/corrections/adjustment.request.js';
import {
  FindRoundQuery,
  OperatorFindRoundQuery,
  OperatorRoundQuery,
  RoundQuery,
} from '../../src/desk/rounds/round.admin.request.js';
import { SettleRequest } from '../../src/desk/corrections/settle.request.js';
import {
  OperatorTransactionQuery,
  TransactionQuery,
} from '../../src/desk/transactions/transaction.admin.request.js';
import { TRANSACTION_REQUESTS, TransactionRequest } from '../../src/wallet/transaction.request.js';

export type Fields = Readonly<Record<string, unknown>>;

const EXPIRING = { expiresAt: '2026-12-31T23:00:00+01:00' };
const SPINS = { gameId: 'slots', spins: 10, betAmountMinor: 20, currency: 'EUR' };
const LIMITS = [
  { maxGrantMinor: 1, maxBatchMinor: 2, maxAdjustmentMinor: 3, dailyMinor: 4, maxWinMinor: 0 },
  { dailyMinor: null },
];
const PAGE = { limit: 50, cursor: 'Ym9vaw' };
const LIST = { ...PAGE, bom: 'true' };
const RANGE = { from: '2026-01-31', to: '2026-01-31T00:00:00.5+01:00' };
const TIME_PAGE = { ...LIST, ...RANGE };
const PROVIDER = { name: 'Acme', webhookBaseUrl: 'https://rgs.acme.example', lateSettlementSeconds: 0 };
const OPERATOR = { name: 'Lucky', walletBaseUrl: 'https://wallet.lucky.example', walletTimeoutMs: 5000 };
const TENANT = { status: 'ACTIVE', requestsPerSecond: 500 };

/** Valid bodies and queries for every class that a route reads. */
export const ACCEPTED = new Map<Type<object>, Fields[]>([
  [TransactionRequest, Object.values(TRANSACTION_REQUESTS).map(({ value }) => value)],
  [SessionTokenRequest, [{ sessionToken: 'token' }]],
  [
    AdjustmentRequest,
    [
      {
        adjustmentId: 'a-1',
        operatorId: 'o',
        playerRef: 'p',
        currency: 'EUR',
        amountMinor: -5,
        reason: 'why',
      },
    ],
  ],
  [
    LaunchRequest,
    [
      { playerRef: 'p', gameId: 'g', currency: 'EUR' },
      {
        playerRef: 'p',
        gameId: 'g',
        currency: 'EUR',
        mode: 'DEMO',
        ttlSeconds: 3600,
        language: 'pt-BR',
        country: 'DE',
        maxBetMinor: 100,
        jurisdiction: 'MT',
        realityCheckSeconds: 3600,
      },
    ],
  ],
  [RevokeRequest, [{ reason: 'KICK' }]],
  [OperatorGrantRequest, [{ ...SPINS, playerRef: 'p', requestRef: 'r', ...EXPIRING }]],
  [AdminGrantRequest, [{ ...SPINS, playerRef: 'p', operatorId: 'o', requestRef: 'r', ...EXPIRING }]],
  [OperatorBatchRequest, [{ ...SPINS, playerRefs: ['p', 'q'], batchRef: 'b', ...EXPIRING }]],
  [AdminBatchRequest, [{ ...SPINS, playerRefs: ['p', 'q'], operatorId: 'o', batchRef: 'b', ...EXPIRING }]],
  [
    CreateKeyRequest,
    [
      { name: 'Night shift', role: 'support' },
      { name: 'Audit', role: 'auditor', expiresAt: '2099-01-31T00:00:00Z' },
      { name: 'Audit', role: 'auditor', expiresAt: null },
    ],
  ],
  [
    PutGameRequest,
    [
      {
        providerId: 'acme',
        name: 'Book',
        status: 'ACTIVE',
        launchUrl: 'https://play.acme.example',
        roundDetailsUrl: 'https://acme.example/{roundId}',
      },
    ],
  ],
  [CreateProviderRequest, [{ id: 'acme', ...PROVIDER, ...TENANT }]],
  [ChangeProviderRequest, [{ ...PROVIDER, ...TENANT }, {}]],
  [
    CreateOperatorRequest,
    [{ id: 'lucky', ...OPERATOR, ...TENANT, walletAdapter: 'signed-json', currencies: ['EUR'] }],
  ],
  [
    ChangeOperatorRequest,
    [{ ...OPERATOR, ...TENANT, walletAdapter: 'signed-json', currencies: ['EUR', 'USD'] }, {}],
  ],
  [
    PauseRequest,
    [
      { reason: 'moved', until: '2036-01-31T00:00:00Z' },
      { reason: 'moved', until: null },
    ],
  ],
  [ResumeRequest, [{ reason: 'has been moved' }, { reason: null }, {}]],
  [RotateSecretRequest, [{ overlapSeconds: 0 }, {}]],
  [PageQuery, [PAGE, {}]],
  [ListQuery, [LIST, { bom: 'false' }]],
  [
    AuditQuery,
    [
      { ...TIME_PAGE, actor: 'root', action: 'provider.change', target: 'provider:acme' },
      { outcome: 'FORBIDDEN', requestId: 'r', action: 'limit.*' },
    ],
  ],
  [CallbackQuery, [{ ...TIME_PAGE, providerId: 'a', route: '/v1/game/session/revoke', reference: 'r' }]],
  [OperatorSessionQuery, [{ ...TIME_PAGE, providerId: 'a', playerRef: 'p', revoked: 'false' }]],
  [
    OperatorTransactionQuery,
    [{ ...TIME_PAGE, providerId: 'a', kind: 'WIN', amountMinor: -5, parked: 'true' }],
  ],
  [OperatorRoundQuery, [{ ...TIME_PAGE, open: 'true', olderThanMinutes: 5, playerRef: 'p' }]],
  [OperatorFindRoundQuery, [{ playerRef: 'p', gameId: 'g', mode: 'DEMO' }, {}]],
  [SessionQuery, [{ ...TIME_PAGE, operatorId: 'o', providerId: 'a', playerRef: 'p', revoked: 'true' }]],
  [
    TransactionQuery,
    [
      { ...TIME_PAGE, operatorId: 'o', providerId: 'a', roundId: 'r', state: 'PENDING' },
      {
        kind: 'WIN',
        sessionId: '00000000-0000-4000-8000-000000000000',
        gameId: 'g',
        amountMinor: -5,
        currency: 'EUR',
        parked: 'true',
      },
    ],
  ],
  [
    RoundQuery,
    [{ ...TIME_PAGE, open: 'true', olderThanMinutes: 5, operatorId: 'o', providerId: 'a', playerRef: 'p' }],
  ],
  [FindRoundQuery, [{ operatorId: 'o', playerRef: 'p', gameId: 'g', mode: 'DEMO' }, {}]],
  [SearchQuery, [{ q: 'a player' }, { q: 'a player', bom: 'true' }]],
  [ApprovalQuery, [{ ...TIME_PAGE, state: 'WAITING', operatorId: 'o' }]],
  [SettleRequest, [{ status: 'APPROVED', balance: -5, operatorReference: 'ticket 1', reason: 'why' }]],
  [
    AttentionQuery,
    [{ ...TIME_PAGE, kind: 'round', state: 'OPEN', assignee: 'Ada', operatorId: 'o', providerId: 'a' }],
  ],
  [AssignRequest, [{ assignee: 'Ada' }, { assignee: null }]],
  [SnoozeRequest, [{ until: '2099-01-31T06:00:00Z' }]],
  [AssignSeveralRequest, [{ ids: ['00000000-0000-4000-8000-000000000000'], assignee: 'Ada' }]],
  [SnoozeSeveralRequest, [{ ids: ['00000000-0000-4000-8000-000000000000'], until: '2099-01-31T06:00:00Z' }]],
  [CloseSeveralRequest, [{ ids: ['00000000-0000-4000-8000-000000000000'], reason: 'corrected' }]],
  [CommentRequest, [{ text: 'asked the operator:\nticket 4711' }]],
  [CloseRequest, [{ reason: 'corrected' }]],
  [FlaggedWinQuery, [{ ...TIME_PAGE, operatorId: 'o' }]],
  [ReconciliationRequest, [{ operatorId: 'o', ...RANGE, record: 'true' }]],
  [ReconciliationQuery, [{ ...TIME_PAGE, operatorId: 'o' }]],
  [FindBatchQuery, [{ items: 'false' }, {}]],
  [OperatorBatchQuery, [{ ...PAGE, ...RANGE, gameId: 'g' }]],
  [AdminBatchQuery, [{ ...TIME_PAGE, gameId: 'g', operatorId: 'o' }]],
  [ResendBatchRequest, [{ includeUnknown: true }, {}]],
  [RejectRequest, [{ reason: 'one zero too many' }]],
  [PatchLimitRequest, LIMITS],
  [PutLimitRequest, LIMITS],
  [
    OperatorGrantQuery,
    [
      {
        ...PAGE,
        ...RANGE,
        batchId: '0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11',
        state: 'GRANTED',
        providerId: 'a',
        playerRef: 'p',
        gameId: 'g',
      },
    ],
  ],
  [AdminGrantQuery, [{ ...TIME_PAGE, state: 'GRANTED', providerId: 'a', playerRef: 'p', operatorId: 'o' }]],
]);

/** Invalid values for any field; undefined leaves it out. */
export const SUSPECTS: unknown[] = [
  undefined,
  null,
  true,
  false,
  {},
  { length: 1 },
  [],
  ['p'],
  ['p', 'p'],
  ['p', 'a b'],
  ['p', 1],
  [['p']],
  Array.from({ length: 1001 }, (_, index) => `p${index}`),
  0,
  -0,
  -1,
  1,
  0.5,
  499,
  500,
  501,
  1000,
  1001,
  86_400,
  31_536_000,
  31_536_001,
  1e21,
  NaN,
  Infinity,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_SAFE_INTEGER + 1,
  Number.MIN_SAFE_INTEGER,
  -(2 ** 53),
  '',
  '.',
  '..',
  ' ',
  'a b',
  'é',
  '日本',
  '😀',
  '\ud800',
  '\u0000',
  '\ufe0f',
  'a\n',
  '$value',
  '$property',
  '1',
  '0',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(128),
  'x'.repeat(129),
  'x'.repeat(513),
  'x'.repeat(2049),
  'croupier-',
  'croupier-1',
  'Croupier-1',
  'platform',
  'BET',
  'WIN',
  'ROLLBACK',
  'ADJUSTMENT',
  'bet',
  'DEMO',
  'ACTIVE',
  'EUR',
  'eur',
  'EURO',
  'EU',
  'DE',
  'en',
  'en_',
  'true',
  'admin',
  'KICK',
  'CANCELLED',
  'signed-json',
  '2026-01-31',
  '2026-13-31',
  '2026-01-31T00:00',
  'https://a.example',
  'ftp://a.example',
  'http://',
  '//a',
];

/** The fields that a class constrains. */
export function knownFields(type: Type<object>): Set<string> {
  const metadata = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return new Set(metadata.map(({ propertyName }) => propertyName));
}

/** Whether the field is an integer in a query, which arrives as digits. */
export function isQueryInteger(type: Type<object>, field: string): boolean {
  return type.name.endsWith('Query') && Reflect.getMetadata('design:type', type.prototype, field) === Number;
}

/** The body with other values; as JSON.parse does, it makes `__proto__` a field like any other. */
export function changed(body: Fields, changes: [field: string, value: unknown][]): Fields {
  const fields = new Map([...Object.entries(body), ...changes]);
  return Object.fromEntries([...fields].filter(([, value]) => value !== undefined));
}
