import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { BrokenSignature, type SignatureFault } from './broken-signature.js';

/** Mistakes of a server that accepts signed calls; to close each connection, or idle ones as announced, is none. */
export type ServerFault =
  | SignatureFault
  | 'throws at a signature that is not hex'
  | 'refuses with 400'
  | 'refuses with 403'
  | 'refuses with 500'
  | 'acts before it verifies'
  | 'believes calls to /balance'
  | 'reads what comes at once'
  | 'answers with text/html'
  | 'answers with a Content-Encoding'
  | 'begins with a byte order mark'
  | 'handles one call at a time'
  | 'works on one call at a time, slowly'
  | 'takes 300 ms'
  | 'forgets the fifth call of a connection'
  | 'answers twice at once'
  | 'answers once too often'
  | 'closes each connection'
  | 'closes idle connections'
  | 'closes idle connections earlier than announced'
  | 'closes idle connections as announced'
  | 'answers at most ten calls at once'
  | 'answers 201'
  | 'decodes each chunk'
  | 'takes at most 1 KiB'
  | 'goes down if a body breaks off'
  | 'never answers';

export interface Reply {
  /** 0: no answer at all. */
  status: number;
  body: object | string;
}

export type Body = Record<string, unknown>;

const REFUSED: Reply = { status: 401, body: 'invalid signature' };
/** How long after the first answer a second one comes, in milliseconds. */
const LATE_MS = 2;
/** How long an idle connection stays open if it is closed too early, in milliseconds. */
const IDLE_MS = 300;
/** How long an idle connection stays open, as the server announces, in seconds: longer than the platform's margin. */
const ANNOUNCED_SECONDS = 2;
/** How long slow work takes, in milliseconds. */
const WORK_MS = 25;

/** A server of signed calls over real HTTP, with faults. */
export class BrokenServer {
  // Text that is base64 too, so that a server can decode it by mistake.
  static readonly secret = 'dGhlIHByb3ZpZGVyJ3Mgc2VjcmV0';

  private readonly server = createServer((request, response) => {
    const calls = (this.served.get(request.socket) ?? 0) + 1;
    this.served.set(request.socket, calls);
    if (calls === 5 && this.is('forgets the fifth call of a connection')) return;
    void this.replyTo(request).then(({ status, body }) => {
      const mark = this.is('begins with a byte order mark') ? '\uFEFF' : '';
      const text = mark + (typeof body === 'string' ? body : JSON.stringify(body));
      const type = this.is('answers with text/html') ? 'text/html' : 'application/json; charset=utf-8';
      if (this.is('answers 201') && status === 200)
        return void response.writeHead(201, { 'Content-Type': type }).end(text);
      const head = `HTTP/1.1 ${status} Answer\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(text)}`;
      const raw = `${head}\r\n\r\n${text}`;
      if (this.is('answers twice at once')) return void request.socket.write(raw + raw);
      if (this.is('answers once too often'))
        response.on('finish', () => setTimeout(() => request.socket.write(raw), LATE_MS));
      if (this.is('answers with a Content-Encoding')) response.setHeader('Content-Encoding', 'gzip');
      const asAnnounced = this.is('closes idle connections as announced');
      const announces = asAnnounced || this.is('closes idle connections earlier than announced');
      if (announces || this.is('closes idle connections')) {
        // Node announces its keep-alive time-out only if the header is its own.
        response.setHeader('Connection', 'keep-alive');
        if (announces) response.setHeader('Keep-Alive', `max=100, timeout=${ANNOUNCED_SECONDS}`);
        const idleMs = asAnnounced ? 1000 * ANNOUNCED_SECONDS : IDLE_MS;
        response.on('finish', () => setTimeout(() => request.socket.end(), idleMs));
      }
      if (this.is('closes each connection')) response.setHeader('Connection', 'close');
      if (status !== 0)
        response.writeHead(status, { 'Content-Type': type }).end(status === 204 ? undefined : text);
    });
  });
  private underWay = 0;
  private isDown = false;
  private readonly served = new WeakMap<object, number>();
  /** Resolved when the previous call is done, for servers that handle one call at a time by mistake. */
  private turn: Promise<unknown> = Promise.resolve();
  private readonly signature: BrokenSignature;

  private constructor(
    private readonly faults: readonly string[],
    tenantId: string,
    paths: readonly string[],
    private readonly act: (path: string, raw: string, request: IncomingMessage) => Promise<Reply>,
  ) {
    this.signature = new BrokenSignature(faults, { tenantId, secret: BrokenServer.secret, paths });
  }

  /** @param act carries out an accepted call */
  static async start(
    faults: readonly string[],
    { tenantId, paths }: { tenantId: string; paths: readonly string[] },
    act: (path: string, raw: string, request: IncomingMessage) => Promise<Reply>,
  ): Promise<BrokenServer> {
    const broken = new BrokenServer(faults, tenantId, paths, act);
    broken.server.listen(0, '127.0.0.1');
    await once(broken.server, 'listening');
    return broken;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private is(fault: ServerFault): boolean {
    return this.faults.includes(fault);
  }

  /** Like any server, answers 500 if the call breaks off or its handler throws. */
  private async replyTo(request: IncomingMessage): Promise<Reply> {
    try {
      if (this.isDown) return { status: 502, body: '' };
      return await this.inTurn(request);
    } catch {
      this.isDown = this.is('goes down if a body breaks off');
      return { status: 500, body: '' };
    }
  }

  private inTurn(request: IncomingMessage): Promise<Reply> {
    if (!this.is('handles one call at a time')) return this.serve(request);
    const reply = this.turn.then(() => this.serve(request));
    this.turn = reply;
    return reply;
  }

  private async serve(request: IncomingMessage): Promise<Reply> {
    if (this.is('never answers')) return { status: 0, body: '' };
    const path = (request.url ?? '').split('?')[0]?.replace(/^\/rgs/, '') ?? '';
    const raw = await this.read(request);
    const done = this.is('acts before it verifies') ? await this.act(path, raw, request) : undefined;
    if (
      this.is('throws at a signature that is not hex') &&
      String(request.headers['x-signature']).startsWith('no-')
    ) {
      return { status: 500, body: 'Error: no hex' };
    }
    const isOpen = path === '/balance' && this.is('believes calls to /balance');
    if (!isOpen && !(await this.signature.believes(request, raw))) {
      if (this.is('refuses with 500')) return { ...REFUSED, status: 500 };
      if (this.is('refuses with 400')) return { ...REFUSED, status: 400 };
      return this.is('refuses with 403') ? { ...REFUSED, status: 403 } : REFUSED;
    }
    if (this.is('takes at most 1 KiB') && Buffer.byteLength(raw) > 1024) return { status: 413, body: '' };
    if (this.is('answers at most ten calls at once')) {
      if (this.underWay >= 10) return { status: 503, body: '' };
      this.underWay += 1;
      await delay(WORK_MS);
      this.underWay -= 1;
    }
    if (this.is('takes 300 ms')) await delay(300);
    if (this.is('works on one call at a time, slowly')) {
      this.turn = this.turn.then(() => delay(WORK_MS));
      await this.turn;
    }
    return done ?? this.act(path, raw, request);
  }

  private async read(request: IncomingMessage): Promise<string> {
    if (this.is('decodes each chunk')) {
      let text = '';
      for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString();
      return text;
    }
    if (this.is('reads what comes at once')) {
      const [chunk] = (await once(request, 'data')) as [Buffer];
      return chunk.toString();
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }
}

export const ok = (body: object): Reply => ({ status: 200, body });
export const bad = (error: string): Reply => ({ status: 400, body: { error } });

export function parsed(raw: string): Body | undefined {
  try {
    return JSON.parse(raw) as Body;
  } catch {
    return undefined;
  }
}
