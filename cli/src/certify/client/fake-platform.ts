import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The fake platform's reaction to one request. */
export type Step =
  /** PENDING is not a decision, nor is an answer with `balance` that is not an integer. */
  | { does: 'decide'; status: 'APPROVED' | 'DECLINED' | 'PENDING'; balance?: unknown }
  /** An answer for another transactionId or none, as a faulty cache or an attacker may send it. */
  | { does: 'forge'; transactionId: string | undefined }
  /** An error of the platform, with its headers. */
  | { does: 'refuse'; status: number; code: string; next: string; retryAfterSeconds?: number }
  /** The platform's 401, which is plain text. */
  | { does: 'refuse-signature' }
  /** An answer without the platform's headers, as a proxy sends it. */
  | { does: 'proxy'; status: number; text: string; headers?: Record<string, string> }
  | { does: 'hang' | 'hang-halfway' | 'drip' | 'cut' | 'cut-halfway' };

/** A received request. */
export interface Arrival {
  method: string;
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Unix time in milliseconds. */
  atMs: number;
}

/** How long a connection may stay open after the client has ended, in milliseconds: a process that it started may hold it. */
const CONNECTION_END_MS = 1000;

/** Time between two bytes of a slow answer, in milliseconds: much less than the time-out of an attempt. */
const DRIP_MS = 50;

/** The form of an `X-Request-Id` that the platform uses. Contract, section 2. */
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** A platform that answers one run of the client by a script, whose last step repeats. */
export class FakePlatform {
  private readonly server = createServer((request, response) => void this.serve(request, response));
  /** The requests received so far. */
  readonly arrivals: Arrival[] = [];

  private constructor(
    private readonly script: readonly Step[],
    private readonly nowMs: () => number,
  ) {}

  /** @param nowMs Unix time in milliseconds */
  static async start(script: readonly Step[], nowMs: () => number): Promise<FakePlatform> {
    const platform = new FakePlatform(script, nowMs);
    platform.server.listen(0, '127.0.0.1');
    await once(platform.server, 'listening');
    return platform;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resolves when all connections have ended: on a busy machine, requests may arrive after the client has ended. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.server.closeAllConnections(), CONNECTION_END_MS);
    this.server.close();
    await once(this.server, 'close');
    clearTimeout(timer);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: target = '', headers } = request;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks).toString();
    this.arrivals.push({ method, target, headers, body, atMs: this.nowMs() });
    const step = this.script[Math.min(this.arrivals.length, this.script.length) - 1];
    if (!step) return;
    const offered = String(headers['x-request-id'] ?? '');
    if (step.does !== 'proxy') {
      response.setHeader('X-Request-Id', REQUEST_ID.test(offered) ? offered : randomUUID());
    }
    answer(step, body, response);
  }
}

function answer(step: Step, body: string, response: ServerResponse): void {
  switch (step.does) {
    case 'hang':
      return;
    case 'cut':
      return void response.socket?.destroy();
    case 'hang-halfway':
      return sendHalf(response);
    case 'drip':
      return drip(response);
    case 'cut-halfway':
      sendHalf(response);
      return void setTimeout(() => response.socket?.destroy(), 20);
    case 'decide':
      return sendJson(response, 200, {
        ...decision(body, step.status),
        ...('balance' in step && { balance: step.balance }),
      });
    case 'forge':
      return sendJson(response, 200, { ...decision(body, 'APPROVED'), transactionId: step.transactionId });
    case 'refuse': {
      const { status, code, next, retryAfterSeconds } = step;
      const retryAfter = retryAfterSeconds === undefined ? {} : { 'Retry-After': retryAfterSeconds };
      const headers = { 'X-Error-Code': code, 'X-Next-Action': next, ...retryAfter };
      return sendJson(response, status, { error: `the fake platform answers ${code}` }, headers);
    }
    case 'refuse-signature':
      return void response
        .writeHead(401, { 'Content-Type': 'text/plain; charset=utf-8' })
        .end('invalid signature');
    case 'proxy':
      response.writeHead(step.status, { 'Content-Type': 'text/html', ...step.headers }).end(step.text);
  }
}

function decision(body: string, status: 'APPROVED' | 'DECLINED' | 'PENDING'): object {
  const { transactionId, currency } = fieldsIn(body);
  const reason = status === 'DECLINED' ? { declineReason: 'INSUFFICIENT_FUNDS' } : {};
  return { transactionId, platformTransactionId: 'fake-1', status, balance: 1000, currency, ...reason };
}

/** The fields of a request; none if the client under test sent no JSON object. */
export function fieldsIn(body: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(body)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Sends the headers of an answer and the beginning of its body. */
function sendHalf(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 500 });
  response.write('{"transactionId":');
}

/** Sends an answer without an end, a little at a time. */
function drip(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const timer = setInterval(() => response.write(' '), DRIP_MS);
  response.on('close', () => clearInterval(timer));
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string | number> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(text);
}
