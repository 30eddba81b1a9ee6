import { signatureOf, verifyPlatformSignature } from '@croupier/provider-sdk';
import type { IncomingMessage } from 'node:http';

/** Mistakes in the verification of signatures. */
export type SignatureFault =
  | 'believes everybody'
  | 'takes the tenant from the call'
  | 'compares the tenant regardless of case'
  | 'takes any text for a time'
  | 'ignores what follows a signature'
  | 'takes an empty signature'
  | 'needs an X-Request-Id'
  | 'compares nonces regardless of case'
  | 'ignores the time'
  | 'takes milliseconds too'
  | 'forgets nonces'
  | 'remembers a nonce for a moment'
  | 'remembers a nonce for a minute'
  | 'looks up a nonce before it writes it down'
  | 'remembers nonces by route'
  | 'verifies re-serialised JSON'
  | 'verifies the body trimmed'
  | 'verifies the path without its query'
  | 'verifies any of its paths'
  | 'verifies any method'
  | 'compares as much of a signature as there is'
  | 'knows headers only in their usual spelling'
  | 'allows a minute'
  | 'claims a nonce before it verifies'
  | 'verifies the path without its prefix'
  | 'decodes the secret as base64'
  | 'verifies what a body parser left';

/** Longest duration of a slow lookup, in milliseconds: on a busy machine, calls at once arrive far apart. */
const LOOKUP_MS = 100;

/** How long a nonce is remembered if it is forgotten too early, in milliseconds. */
const MOMENT_MS = 300;
const MINUTE_MS = 60_000;

/** Lookups that are slow enough for a race. */
export class SlowLookup {
  private readonly lookups = new Map<string, () => void>();

  /** Waits, but only until another lookup of the same key. */
  slowly(key: string): Promise<void> {
    return new Promise((resolve) => {
      this.lookups.get(key)?.();
      const timer = setTimeout(resolve, LOOKUP_MS);
      this.lookups.set(key, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Verifies calls, with faults. */
export class BrokenSignature {
  private readonly nonces = new Set<string>();
  private readonly lookup = new SlowLookup();

  constructor(
    private readonly faults: readonly string[],
    private readonly server: { tenantId: string; secret: string; paths: readonly string[] },
  ) {}

  private is(fault: SignatureFault): boolean {
    return this.faults.includes(fault);
  }

  async believes(request: IncomingMessage, raw: string): Promise<boolean> {
    if (this.is('believes everybody')) return true;
    const headers = this.headersOf(request);
    if (this.is('needs an X-Request-Id') && !headers['x-request-id']) return false;
    const target = request.url ?? '';
    const claimed = this.is('claims a nonce before it verifies')
      ? await this.claim(headers['x-nonce'] ?? '', target)
      : undefined;
    const paths = this.is('verifies any of its paths') ? this.server.paths : [this.pathOf(target)];
    const methods = this.is('verifies any method') ? ['POST', 'PUT'] : ['POST'];
    const now = this.is('ignores the time') ? Number(headers['x-timestamp']) : Date.now() / 1000;
    const verified = paths.some((path) =>
      methods.some((method) => {
        const call = { method, path, body: this.verifiedBody(raw), secret: this.key };
        const tenantId = this.isAccepted(headers['x-tenant-id'] ?? '')
          ? headers['x-tenant-id']
          : this.server.tenantId;
        const toleranceSeconds = this.is('allows a minute') ? 60 : 300;
        const signed = { ...call, headers, tenantId: tenantId ?? '', now, toleranceSeconds };
        return verifyPlatformSignature(signed).ok || this.isLenient(headers, call);
      }),
    );
    return verified && (claimed ?? this.claim(headers['x-nonce'] ?? '', target));
  }

  private isAccepted(tenantId: string): boolean {
    if (this.is('compares the tenant regardless of case'))
      return tenantId.toLowerCase() === this.server.tenantId.toLowerCase();
    return this.is('takes the tenant from the call');
  }

  private headersOf({ rawHeaders }: IncomingMessage): Record<string, string> {
    const headers: Record<string, string> = {};
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
      const isUnknown = this.is('knows headers only in their usual spelling') && name === name.toLowerCase();
      if (!isUnknown) headers[name.toLowerCase()] = value;
    }
    return headers;
  }

  private isLenient(
    headers: Record<string, string>,
    { secret, ...call }: { method: string; path: string; body: string; secret: string },
  ): boolean {
    const { 'x-timestamp': timestamp = '', 'x-nonce': nonce = '', 'x-signature': signature = '' } = headers;
    const right = signatureOf(secret, { ...call, timestamp, nonce });
    if (this.is('takes milliseconds too') && timestamp.length === 13) return signature === right;
    if (this.is('takes an empty signature') && headers['x-signature'] === '') return true;
    if (this.is('takes any text for a time') && /\D/.test(timestamp)) return signature === right;
    if (this.is('ignores what follows a signature') && signature.length > right.length)
      return signature.startsWith(right);
    const isShort = signature !== '' && signature.length < right.length;
    return this.is('compares as much of a signature as there is') && isShort && right.startsWith(signature);
  }

  /** The key of the HMAC: the secret's text, or by mistake the secret decoded as base64. */
  private get key(): string {
    return this.is('decodes the secret as base64')
      ? Buffer.from(this.server.secret, 'base64').toString('ascii')
      : this.server.secret;
  }

  private pathOf(path: string): string {
    if (this.is('verifies the path without its prefix')) return path.replace(/^\/[^/]+/, '');
    return this.is('verifies the path without its query') ? (path.split('?')[0] ?? '') : path;
  }

  private verifiedBody(raw: string): string {
    if (this.is('verifies re-serialised JSON')) return parsed(raw) ? JSON.stringify(parsed(raw)) : raw;
    if (this.is('verifies what a body parser left')) return '';
    return this.is('verifies the body trimmed') ? raw.trim() : raw;
  }

  private async claim(nonce: string, path: string): Promise<boolean> {
    if (this.is('forgets nonces')) return true;
    const compared = this.is('compares nonces regardless of case') ? nonce.toLowerCase() : nonce;
    const key = this.is('remembers nonces by route') ? compared + path : compared;
    const known = this.nonces.has(key);
    if (this.is('looks up a nonce before it writes it down')) await this.lookup.slowly(key);
    this.nonces.add(key);
    if (this.is('remembers a nonce for a moment'))
      setTimeout(() => this.nonces.delete(key), MOMENT_MS).unref();
    if (this.is('remembers a nonce for a minute'))
      setTimeout(() => this.nonces.delete(key), MINUTE_MS).unref();
    return !known;
  }
}

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return undefined;
  }
}
