import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CALLBACK_ROUTES, verifyPlatformSignature } from '../../src/index.js';
import { signatureOf } from '../../src/signature.js';

/** What an integration gets wrong. Without any it is right. */
export type Fault =
  | 'believes everybody'
  | 'takes the tenant from the call'
  | 'takes no look at the time'
  | 'takes milliseconds too'
  | 'forgets nonces'
  | 'looks up a nonce before it writes it down'
  | 'remembers nonces by route'
  | 'verifies JSON made anew'
  | 'verifies the body trimmed'
  | 'verifies the path without its query'
  | 'verifies any of its paths'
  | 'verifies any method'
  | 'compares as much of a signature as there is'
  | 'throws at a signature that is no hex'
  | 'knows headers in their usual spelling alone'
  | 'allows a minute'
  | 'refuses with 403'
  | 'acts before it verifies'
  | 'refuses unknown fields'
  | 'grants each time anew'
  | 'looks up a grant before it writes it down'
  | 'adds the spins of a repeated grant'
  | 'fills up at a repeated grant'
  | 'numbers all batches alike'
  | 'knows no default stake'
  | 'grants a hundred spins at most'
  | 'grants without a requestRef'
  | 'fails at a body that is no JSON'
  | 'answers a grant with 201'
  | 'answers a number for externalRef'
  | 'answers a status without completed'
  | 'never completes'
  | 'takes a status for a spin'
  | 'makes up a status'
  | 'answers a cancel with 204'
  | 'cancels once'
  | 'cancels nothing'
  | 'cancels all of a player'
  | 'plays on after a cancel'
  | 'revokes once'
  | 'knows kicks alone'
  | 'reads what comes at once'
  | 'answers nobody';

interface Batch {
  externalRef: string;
  playerRef: string;
  remainingSpins: number;
  spins: number;
  cancelled: boolean;
}

interface Reply {
  status: number;
  body: object | string;
}

type Body = Record<string, unknown>;

const KNOWN = [
  'requestRef',
  'playerRef',
  'gameId',
  'spins',
  'betAmountMinor',
  'currency',
  'externalRef',
].concat('revocationRef', 'sessionId', 'reason', 'revokedAt');
export const PLAY_PATH = '/test/play';
const PATHS = [...Object.values(CALLBACK_ROUTES), PLAY_PATH];
const REFUSED: Reply = { status: 401, body: 'invalid signature' };
const NOT_FOUND: Reply = { status: 404, body: { error: 'no such batch' } };
/** How long a slow lookup takes at most, in milliseconds. */
const LOOKUP_MS = 20;

/** A provider of its own make, over real HTTP, with faults. */
export class BrokenProvider {
  readonly tenantId = 'spinwell';
  readonly secret = 'the provider’s secret';
  private readonly server = createServer((request, response) => {
    void this.serve(request).then(({ status, body }) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      if (status !== 0) response.writeHead(status).end(status === 204 ? undefined : text);
    });
  });
  private readonly batches = new Map<string, Batch>();
  private readonly byRequestRef = new Map<string, Batch>();
  private readonly nonces = new Set<string>();
  private readonly lookups = new Map<string, () => void>();
  private readonly revoked = new Set<string>();

  private constructor(private readonly faults: readonly Fault[]) {}

  static async start(...faults: Fault[]): Promise<BrokenProvider> {
    const provider = new BrokenProvider(faults);
    provider.server.listen(0, '127.0.0.1');
    await once(provider.server, 'listening');
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private is(fault: Fault): boolean {
    return this.faults.includes(fault);
  }

  private async serve(request: IncomingMessage): Promise<Reply> {
    if (this.is('answers nobody')) return { status: 0, body: '' };
    const raw = await this.read(request);
    const done = this.is('acts before it verifies') ? await this.act(request, raw) : undefined;
    if (
      this.is('throws at a signature that is no hex') &&
      String(request.headers['x-signature']).startsWith('no-')
    ) {
      return { status: 500, body: 'Error: no hex' };
    }
    if (!(await this.believes(request, raw))) {
      return this.is('refuses with 403') ? { ...REFUSED, status: 403 } : REFUSED;
    }
    return done ?? this.act(request, raw);
  }

  private async read(request: IncomingMessage): Promise<string> {
    if (this.is('reads what comes at once')) {
      const [chunk] = (await once(request, 'data')) as [Buffer];
      return chunk.toString();
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  private async believes(request: IncomingMessage, raw: string): Promise<boolean> {
    if (this.is('believes everybody')) return true;
    const headers = this.headersOf(request);
    const target = request.url ?? '';
    const paths = this.is('verifies any of its paths') ? PATHS : [this.pathOf(target)];
    const methods = this.is('verifies any method') ? ['POST', 'PUT'] : ['POST'];
    const now = this.is('takes no look at the time') ? Number(headers['x-timestamp']) : Date.now() / 1000;
    const verified = paths.some((path) =>
      methods.some((method) => {
        const call = { method, path, body: this.verifiedBody(raw), secret: this.secret };
        const tenantId = this.is('takes the tenant from the call') ? headers['x-tenant-id'] : this.tenantId;
        const toleranceSeconds = this.is('allows a minute') ? 60 : 300;
        const signed = { ...call, headers, tenantId: tenantId ?? '', now, toleranceSeconds };
        return verifyPlatformSignature(signed).ok || this.isLenient(headers, call);
      }),
    );
    return verified && this.claim(headers['x-nonce'] ?? '', target);
  }

  private headersOf({ rawHeaders }: IncomingMessage): Record<string, string> {
    const headers: Record<string, string> = {};
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
      const isUnknown = this.is('knows headers in their usual spelling alone') && name === name.toLowerCase();
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
    const isShort = signature !== '' && signature.length < right.length;
    return this.is('compares as much of a signature as there is') && isShort && right.startsWith(signature);
  }

  private pathOf(path: string): string {
    return this.is('verifies the path without its query') ? (path.split('?')[0] ?? '') : path;
  }

  private verifiedBody(raw: string): string {
    if (this.is('verifies JSON made anew')) return parsed(raw) ? JSON.stringify(parsed(raw)) : raw;
    return this.is('verifies the body trimmed') ? raw.trim() : raw;
  }

  private async claim(nonce: string, path: string): Promise<boolean> {
    if (this.is('forgets nonces')) return true;
    const key = this.is('remembers nonces by route') ? nonce + path : nonce;
    const known = this.nonces.has(key);
    if (this.is('looks up a nonce before it writes it down')) await this.slowly(key);
    this.nonces.add(key);
    return !known;
  }

  /** Takes its time, but no longer than until another looks up the same. */
  private slowly(key: string): Promise<void> {
    return new Promise((resolve) => {
      this.lookups.get(key)?.();
      const timer = setTimeout(resolve, LOOKUP_MS);
      this.lookups.set(key, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  private async act(request: IncomingMessage, raw: string): Promise<Reply> {
    const body = parsed(raw);
    if (!body) return this.is('fails at a body that is no JSON') ? { status: 500, body: '' } : bad('no JSON');
    const unknown = Object.keys(body).find((field) => !KNOWN.includes(field));
    if (unknown && this.is('refuses unknown fields')) return bad(`what is ${unknown}?`);
    switch ((request.url ?? '').split('?')[0]) {
      case CALLBACK_ROUTES.grant:
        return this.grant(body);
      case CALLBACK_ROUTES.status:
        return this.status(this.batchIn(body));
      case CALLBACK_ROUTES.cancel:
        return this.cancel(this.batchIn(body));
      case CALLBACK_ROUTES.revoke:
        return this.revoke(String(body['sessionId']), String(body['reason']));
      default:
        return this.play(this.batchIn(body));
    }
  }

  private async grant({ requestRef, playerRef, spins, betAmountMinor }: Body): Promise<Reply> {
    if (typeof requestRef !== 'string' && !this.is('grants without a requestRef'))
      return bad('no requestRef');
    if (betAmountMinor === 0 && this.is('knows no default stake')) return bad('no stake');
    if (Number(spins) > 100 && this.is('grants a hundred spins at most')) return bad('too many');
    const key = String(requestRef);
    const known = this.is('grants each time anew') ? undefined : this.byRequestRef.get(key);
    if (this.is('looks up a grant before it writes it down')) await this.slowly(key);
    if (known) {
      if (this.is('adds the spins of a repeated grant')) known.remainingSpins += known.spins;
      if (this.is('fills up at a repeated grant')) known.remainingSpins = known.spins;
      return this.granted(known);
    }
    const externalRef = `batch-${this.is('numbers all batches alike') ? 1 : this.batches.size + 1}`;
    const size = Number(spins);
    const batch = {
      externalRef,
      playerRef: String(playerRef),
      remainingSpins: size,
      spins: size,
      cancelled: false,
    };
    this.batches.set(externalRef, batch);
    this.byRequestRef.set(key, batch);
    return this.granted(batch);
  }

  private granted({ externalRef }: Batch): Reply {
    const status = this.is('answers a grant with 201') ? 201 : 200;
    return { status, body: { externalRef: this.is('answers a number for externalRef') ? 7 : externalRef } };
  }

  private status(batch: Batch | undefined): Reply {
    if (!batch) {
      return this.is('makes up a status') ? ok({ remainingSpins: 0, completed: true }) : NOT_FOUND;
    }
    if (this.is('takes a status for a spin')) batch.remainingSpins -= 1;
    const { remainingSpins } = batch;
    const completed = remainingSpins === 0 && !this.is('never completes');
    return ok({ remainingSpins, ...(!this.is('answers a status without completed') && { completed }) });
  }

  private cancel(batch: Batch | undefined): Reply {
    if (!batch) return NOT_FOUND;
    if (batch.cancelled && this.is('cancels once')) return NOT_FOUND;
    const others = [...this.batches.values()].filter(({ playerRef }) => playerRef === batch.playerRef);
    for (const each of this.is('cancels all of a player') ? others : [batch]) {
      each.cancelled = true;
      if (!this.is('cancels nothing')) each.remainingSpins = 0;
    }
    return this.is('answers a cancel with 204') ? { status: 204, body: '' } : ok({});
  }

  private revoke(sessionId: string, reason: string): Reply {
    if (reason !== 'KICK' && this.is('knows kicks alone')) return bad('what reason is that?');
    if (this.revoked.has(sessionId) && this.is('revokes once')) return { status: 409, body: '' };
    this.revoked.add(sessionId);
    return ok({});
  }

  private play(batch: Batch | undefined): Reply {
    if (!batch) return NOT_FOUND;
    if (batch.cancelled && this.is('plays on after a cancel')) return ok({});
    if (batch.remainingSpins === 0) return { status: 409, body: '' };
    batch.remainingSpins -= 1;
    return ok({});
  }

  private batchIn({ externalRef }: Body): Batch | undefined {
    return this.batches.get(String(externalRef));
  }
}

const ok = (body: object): Reply => ({ status: 200, body });
const bad = (error: string): Reply => ({ status: 400, body: { error } });

function parsed(raw: string): Body | undefined {
  try {
    return JSON.parse(raw) as Body;
  } catch {
    return undefined;
  }
}
