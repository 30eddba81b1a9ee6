import { DEFAULT_TOLERANCE_SECONDS } from '@croupier/provider-sdk';
import type { Mistake } from './signing.js';

/** The headers of a request, and what is needed to check them. */
export interface SentHeaders {
  headers: readonly (readonly [name: string, value: string])[];
  /** The expected `X-Tenant-ID`; undefined if it is not checked. */
  tenantId?: string | undefined;
  /** When the request arrived, as Unix time in seconds. */
  now: number;
  toleranceSeconds?: number | undefined;
}

const SIGNATURE_HEADERS = ['X-Tenant-ID', 'X-Timestamp', 'X-Nonce', 'X-Signature'] as const;

/** The mistakes in the headers, except for the spelling of `X-Signature`. */
export function headerMistakes(sent: SentHeaders): Mistake[] {
  return [...missing(sent), ...twice(sent), ...ofTimestamp(sent), ...ofNonce(sent), ...ofTenant(sent)];
}

/** The first value of a header; empty if the header is missing. */
export function firstValue(headers: SentHeaders['headers'], name: string): string {
  return valuesOf(headers, name)[0] ?? '';
}

/** The values of a header, joined with commas; undefined if the header is missing. */
export function joinedValues(headers: SentHeaders['headers'], name: string): string | undefined {
  const values = valuesOf(headers, name);
  return values.length === 0 ? undefined : values.join(', ');
}

function valuesOf(headers: SentHeaders['headers'], name: string): string[] {
  return headers
    .filter(([candidate]) => candidate.toLowerCase() === name.toLowerCase())
    .map(([, value]) => value);
}

function missing({ headers }: SentHeaders): Mistake[] {
  const names = SIGNATURE_HEADERS.filter((name) => !joinedValues(headers, name));
  if (names.length === 0) return [];
  const similar = headers
    .map(([name]) => name)
    .filter((name) => names.some((wanted) => isSimilar(name, wanted)));
  const hint = similar.length > 0 ? ` Sent under another name: ${similar.join(', ')}.` : '';
  const verb = names.length === 1 ? 'is' : 'are';
  return [{ code: 'header-missing', explanation: `${names.join(', ')} ${verb} missing.${hint}` }];
}

function isSimilar(name: string, wanted: string): boolean {
  const core = wanted.slice(2).split('-')[0]!.toLowerCase();
  return name.toLowerCase() !== wanted.toLowerCase() && name.toLowerCase().includes(core);
}

function twice({ headers }: SentHeaders): Mistake[] {
  return SIGNATURE_HEADERS.filter((name) => valuesOf(headers, name).length > 1).map((name) => ({
    code: 'header-twice',
    explanation: `${name} was sent more than once. Send it once.`,
  }));
}

function ofTimestamp({ headers, now, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: SentHeaders): Mistake[] {
  const timestamp = firstValue(headers, 'x-timestamp');
  if (timestamp === '') return [];
  if (/^\d{13,}$/.test(timestamp)) {
    const explanation = 'X-Timestamp is in milliseconds or smaller units. Send Unix time in whole seconds.';
    return [{ code: 'timestamp-not-in-seconds', explanation }];
  }
  if (!/^\d{1,12}$/.test(timestamp)) {
    const explanation = `X-Timestamp is "${timestamp}". Send Unix time in whole seconds, as decimal digits only.`;
    return [{ code: 'timestamp-malformed', explanation }];
  }
  const offset = Number(timestamp) - now;
  if (Math.abs(offset) <= toleranceSeconds) return [];
  const allowed = `and ${toleranceSeconds} s are allowed`;
  const direction = offset < 0 ? 'behind' : 'ahead';
  const wholeQuarters = Math.abs(offset) > 600 && distanceToMultiple(offset, 900) < 60;
  return wholeQuarters && Math.abs(offset) <= 15 * 3600
    ? [
        {
          code: 'clock-time-zone',
          explanation: `X-Timestamp is ${Math.abs(offset)} s ${direction}, ${allowed}. Perhaps a time zone was applied; Unix time has none.`,
        },
      ]
    : [
        {
          code: offset < 0 ? 'clock-behind' : 'clock-ahead',
          explanation: `X-Timestamp is ${Math.abs(offset)} s ${direction}, ${allowed}. Synchronise the clock, and sign just before sending.`,
        },
      ];
}

function distanceToMultiple(value: number, of: number): number {
  const rest = Math.abs(value) % of;
  return Math.min(rest, of - rest);
}

/** Whether the platform accepts this text as a nonce. */
export function isNonce(text: string): boolean {
  return /^[A-Za-z0-9\-_.:]{8,128}$/.test(text);
}

function ofNonce({ headers }: SentHeaders): Mistake[] {
  const nonce = firstValue(headers, 'x-nonce');
  if (nonce === '' || isNonce(nonce)) return [];
  const explanation = `X-Nonce has ${nonce.length} characters: it must have 8 to 128 of A-Z a-z 0-9 - _ . :`;
  return [{ code: 'nonce-malformed', explanation }];
}

function ofTenant({ headers, tenantId }: SentHeaders): Mistake[] {
  const sent = firstValue(headers, 'x-tenant-id');
  if (tenantId === undefined || sent === '' || sent === tenantId) return [];
  const explanation = `X-Tenant-ID is "${sent}", and the receiver expects "${tenantId}".`;
  return [{ code: 'tenant-mismatch', explanation }];
}
