import { createHash, createHmac } from 'node:crypto';
import type { SentRequest } from '../../../src/debug/diagnosis.js';

/** The inputs of a signer. The planted mistakes do not share code with those that the command tries. */
export interface Call {
  method: string;
  host: string;
  /** The request target. */
  path: string;
  tenant: string;
  timestamp: string;
  nonce: string;
  body: string;
  secret: string;
}

/** How a mistaken signer deviates: in the signed text, the key, the signature or the sent request. */
export interface Deviation {
  text?: string | Buffer;
  parts?: Partial<Record<'method' | 'path' | 'timestamp' | 'nonce', string>> & { body?: string | Buffer };
  key?: string | Buffer;
  signature?: string;
  spell?: (digest: Buffer) => string;
  algorithm?: string;
  sent?: Partial<Pick<Call, 'path' | 'timestamp' | 'nonce' | 'tenant' | 'secret'>> & {
    body?: string | Buffer;
  };
  extraHeaders?: [string, string][];
  without?: string;
  now?: number;
  /** The sender gives the bytes that he signed, which are the right ones. */
  givesSignedBytes?: boolean;
}

export interface PlantedMistake {
  kind: string;
  /** The codes that name it, joined by `+`. There are several entries if the bytes do not distinguish two mistakes. */
  codes: readonly string[];
  plant(call: Call, random: Random): Deviation;
  /** Restricts the generated calls to those in which the mistake shows. */
  needs?: Partial<CallOptions>;
}

export interface CallOptions {
  query: boolean;
  body: 'rich' | 'plain' | 'none';
  basePath: boolean;
  percent: boolean;
  route: string;
}

/** Numbers from a seed, 0 ≤ x < 1 (mulberry32). */
export type Random = () => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const WORDS = ['reels', 'gold', 'fire', 'lotus', 'pirate', 'star', 'wolf', 'sun', 'mine', 'ice'];
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

export function pick<T>(random: Random, items: ArrayLike<T>): T {
  return items[Math.floor(random() * items.length)]!;
}

export function letters(random: Random, count: number, alphabet = LETTERS): string {
  return Array.from({ length: count }, () => pick(random, alphabet)).join('');
}

export function callOf(random: Random, needs: Partial<CallOptions> = {}): Call {
  const { query = random() < 0.4, basePath = random() < 0.5, percent = false } = needs;
  const body = needs.body ?? (random() < 0.7 ? 'rich' : 'plain');
  const route =
    needs.route ??
    pick(random, ['/v1/wallet/transaction', '/v1/wallet/balance', '/v1/game/free-spins/grant']);
  const base = basePath ? `/${pick(random, ['rgs', 'platform', 'api'])}` : '';
  const search = query ? `?trace=${letters(random, 6)}&env=${pick(random, WORDS)}&b=2` : '';
  const escapes = percent ? `${query ? '&' : '?'}name=Zo%C3%AB%20A%2Fb` : '';
  const uuid = letters(random, 32, '0123456789abcdef').replace(
    /^(.{8})(.{4})(.{4})(.{4})(.{12})$/,
    '$1-$2-$3-$4-$5',
  );
  return {
    method: 'POST',
    host: `${pick(random, WORDS)}.example:8443`,
    path: base + route + search + escapes,
    tenant: `${pick(random, WORDS)}-${pick(random, WORDS)}`,
    timestamp: String(1_800_000_000 + Math.floor(random() * 1e7)),
    nonce: uuid,
    body: bodyOf(random, body),
    // It has letters of both cases, as issued secrets do.
    secret: `aZ${letters(random, 41)}`,
  };
}

function bodyOf(random: Random, kind: CallOptions['body']): string {
  if (kind === 'none') return '';
  const plain = {
    sessionToken: letters(random, 20),
    transactionId: `bet-${letters(random, 8, '0123456789')}`,
    amountMinor: 1 + Math.floor(random() * 9000),
    gameId: pick(random, WORDS),
  };
  if (kind === 'plain') return JSON.stringify(plain);
  return JSON.stringify({
    ...plain,
    playerRef: `Zoë/${letters(random, 4)} <vip> & "d'or"`,
    currency: null,
    round: { id: letters(random, 6), closed: true, lines: [1, 2, 3 + Math.floor(random() * 9)] },
  });
}

/** The request that the signer sends. */
export function requestOf(call: Call, deviation: Deviation): SentRequest {
  const { parts = {}, sent = {} } = deviation;
  const head = [
    parts.method ?? call.method,
    parts.path ?? call.path,
    parts.timestamp ?? call.timestamp,
    parts.nonce ?? call.nonce,
    '',
  ].join('\n');
  const text = deviation.text ?? Buffer.concat([Buffer.from(head), Buffer.from(parts.body ?? call.body)]);
  const digest = createHmac(deviation.algorithm ?? 'sha256', deviation.key ?? call.secret)
    .update(text)
    .digest();
  const signature = deviation.signature ?? (deviation.spell ?? ((bytes) => bytes.toString('hex')))(digest);
  const timestamp = sent.timestamp ?? call.timestamp;
  const headers: [string, string][] = [
    ['Host', call.host],
    ['Content-Type', 'application/json'],
    ['X-Request-Id', '3f0e7a52-1111-4222-8333-444455556666'],
    ['X-Tenant-ID', sent.tenant ?? call.tenant],
    ['X-Timestamp', timestamp],
    ['X-Nonce', sent.nonce ?? call.nonce],
    ['X-Signature', signature],
    ...(deviation.extraHeaders ?? []),
  ];
  return {
    method: call.method,
    path: sent.path ?? call.path,
    headers: headers.filter(([name]) => name !== deviation.without),
    body: Buffer.from(sent.body ?? call.body),
    secret: sent.secret ?? call.secret,
    tenantId: call.tenant,
    now: deviation.now ?? Number(call.timestamp) + 3,
    diagnosedAt: Number(call.timestamp) + 3,
    ...(deviation.givesSignedBytes && { claimedBytes: Buffer.from(canonical(call)) }),
  };
}

export const hex = (algorithm: string, text: string | Buffer) =>
  createHash(algorithm).update(text).digest('hex');
export const hmac = (key: string | Buffer, text: string | Buffer) =>
  createHmac('sha256', key).update(text).digest();
export const canonical = ({ method, path, timestamp, nonce, body }: Call) =>
  [method, path, timestamp, nonce, body].join('\n');
export const pathname = ({ path }: Call) => path.split('?')[0]!;
export const search = ({ path }: Call) => path.slice(pathname({ path } as Call).length);

export function kind(
  name: string,
  codes: string | readonly string[],
  plant: PlantedMistake['plant'],
  needs?: Partial<CallOptions>,
): PlantedMistake {
  return { kind: name, codes: typeof codes === 'string' ? [codes] : codes, plant, ...(needs && { needs }) };
}
