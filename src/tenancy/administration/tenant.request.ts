import {
  ChoiceField,
  CurrenciesField,
  IntegerField,
  PatternField,
  type Presence,
  TextField,
} from '../../api/validation/fields.js';
import { BEYOND_PATTERN } from '../../api/validation/schema-extensions.js';
import { NO_ADDRESS } from '../../outbound/base-url.js';
import { PLATFORM_ID, WALLET_ADAPTERS } from '../tenant.js';
import type { Status } from '../tenant.entity.js';

/** A year of 365 days. A round that outlives its session by more must be settled by a person. */
const LONGEST_LATE_SETTLEMENT_SECONDS = 31_536_000;
const HIGHEST_REQUESTS_PER_SECOND = 1_000_000;

export const TenantId = (example: string) =>
  PatternField(
    new RegExp(`^(?!(?:\\.{1,2}|${PLATFORM_ID})$)[A-Za-z0-9._-]{1,64}$`),
    `must be 1 to 64 of A-Z a-z 0-9 . _ -, and not ., .. or ${PLATFORM_ID}`,
    { example },
    { pattern: '^[A-Za-z0-9._-]{1,64}$', [BEYOND_PATTERN]: `not \`.\`, \`..\` or \`${PLATFORM_ID}\`` },
  );

export const Name = (example: string, presence: Presence) =>
  TextField({ presence, longest: 128, notBlank: true, example });

/** A change takes effect within a second. Contract, section 3, "Late settlement". */
export const StatusField = (description = 'by default, a new one is ACTIVE') =>
  ChoiceField(['ACTIVE', 'DISABLED'], { presence: 'optional', description });

const RequestsPerSecond = () =>
  IntegerField({
    presence: 'nullable',
    minimum: 1,
    maximum: HIGHEST_REQUESTS_PER_SECOND,
    example: 500,
    description: '`REQUESTS_PER_SECOND` by default; null restores the default',
  });

const LateSettlementSeconds = () =>
  IntegerField({
    presence: 'nullable',
    minimum: 0,
    maximum: LONGEST_LATE_SETTLEMENT_SECONDS,
    example: 86_400,
    description: '0 by default; null restores the default',
  });

/** An address has 1 to 2048 printable ASCII characters, without spaces. */
export const PRINTABLE = /^[!-~]{1,2048}$/;

/** The published form of `PRINTABLE`: RE2 repeats at most 1000 times. */
export const PRINTABLE_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: 2048,
  pattern: '^[!-~]+$',
} as const;

/** The base address of a wallet or webhook. `checkBaseUrl` checks what the pattern cannot. Contract, section 4. */
const BaseUrl = (example: string, presence: Presence) =>
  PatternField(
    PRINTABLE,
    NO_ADDRESS,
    {
      presence,
      format: 'uri',
      example,
      description:
        'https, without credentials, query or fragment; a public host, unless `OUTBOUND_ALLOW_PRIVATE` is set',
    },
    PRINTABLE_SCHEMA,
  );

const WalletAdapter = () =>
  ChoiceField(WALLET_ADAPTERS, { presence: 'optional', description: '`signed-json` by default' });

/** There are fewer than 200 currencies. */
const MAX_CURRENCIES = 200;

/** The accepted currencies of an operator's sessions, grants and adjustments. Contract, section 9, "Currencies". */
const Currencies = () =>
  CurrenciesField({
    presence: 'nullable',
    most: MAX_CURRENCIES,
    example: ['EUR', 'USD'],
    description:
      'a launch, grant or adjustment in another currency is a 400; by default, any is accepted; ' +
      'null restores the default',
  });

/** The longest lease that can be configured, in milliseconds. */
const LONGEST_LEASE_MS = 3_600_000;

/** The exact upper bound depends on the configured lease, so `TenantAdministration` checks it. */
const WalletTimeoutMs = () =>
  IntegerField({
    presence: 'nullable',
    minimum: 1,
    maximum: LONGEST_LEASE_MS,
    example: 5000,
    description:
      '`OPERATOR_TIMEOUT_MS` by default; null restores the default; at least 1 s less than `TRANSACTION_LEASE_SECONDS`',
  });

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

/** An absent field stays unchanged; null resets a field that may be null to its default. */
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

/** An absent field stays unchanged; null resets a field that may be null to its default. */
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

/** The default overlap, in seconds. A day is enough time to hand over the new secret. */
export const OVERLAP_SECONDS = 86_400;
const LONGEST_OVERLAP_SECONDS = 30 * 86_400;

/** Contract, section 7, `secret/rotate`. */
export class RotateSecretRequest {
  @IntegerField({
    presence: 'nullable',
    minimum: 0,
    maximum: LONGEST_OVERLAP_SECONDS,
    default: OVERLAP_SECONDS,
    description: 'how long the current secret stays valid beside the new one; 0 switches at once',
  })
  overlapSeconds?: number | null;
}
