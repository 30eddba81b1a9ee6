import { DEFAULT_TOLERANCE_SECONDS, MemoryNonceStore, verifyPlatformSignature } from '@croupier/provider-sdk';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseJsonObject } from '../api/validation/json.js';
import { Clock } from '../runtime/clock.js';
import { AnswerSwap } from './faults/answer-swap.js';
import { deliver } from './faults/delivery.js';
import { faultPages, FAULTS_PATH } from './faults/fault-pages.js';
import { FaultRules } from './faults/fault-rules.js';
import type { FaultName } from './faults/faults.js';
import type { Fields } from './fields.js';
import type { Journal } from './journal.js';

export interface Answer {
  status: number;
  body: object;
}

/** Options to start a counterpart of the sandbox. */
export interface CounterpartOptions {
  /** The expected `X-Tenant-ID`. */
  tenantId: string;
  /** The folder of the counterpart's journal. */
  folder: string;
  /** The preferred port; if it is taken, or 0, any free port is used. */
  port: number;
  log: (message: string) => void;
}

/** Handles a signed POST. */
export interface Route {
  /** The operation that the body requests; it decides which faults apply. */
  readonly operation: (body: Fields) => string;
  /**
   * Computes the answer. All records that it appends to the journal are durable before the answer is sent.
   * @param fault the fault of the call; only some faults change the answer, others its delivery
   */
  readonly answer: (body: Fields, fault: FaultName | undefined) => Answer;
}

interface SignedServerOptions extends CounterpartOptions {
  /** The prefix of every route: empty, or with a leading and without a trailing slash. */
  basePath: string;
  /** Routes by their path after `basePath`; all are POST. */
  routes: Readonly<Record<string, Route>>;
  /** All operations of the routes. */
  operations: readonly string[];
  /** Closed together with the server. */
  journal: Pick<Journal<unknown>, 'flush' | 'close'>;
}

const MAX_BODY_BYTES = 64 * 1024;
/**
 * How long a nonce is remembered, in seconds. A timestamp may be ahead of or behind the clock by up to the
 * tolerance, inclusive, in whole seconds. If it is ahead by the full tolerance, it stays valid for twice the tolerance
 * plus one second.
 */
const NONCE_MEMORY_SECONDS = 2 * DEFAULT_TOLERANCE_SECONDS + 1;
/** Maximum number of remembered nonces, enough for about 1,600 calls a second. Beyond it, calls get a 500. */
const MAX_NONCES = 1_000_000;
/**
 * How long an idle connection is kept, in milliseconds. Clients keep it for less, so the server never closes it during
 * a call.
 */
const KEEP_ALIVE_MS = 65_000;

/**
 * A loopback HTTP server. Its routes accept only calls that are signed with its tenant's secret, and each nonce once.
 * The fault rules and their documents need no signature.
 */
export class SignedServer {
  private readonly clock = new Clock();
  private readonly server: Server;
  private readonly nonces = new MemoryNonceStore(MAX_NONCES);
  private secret: string | undefined;
  private readonly faults: FaultRules;
  private readonly answerSwap = new AnswerSwap();
  private readonly servePage: ReturnType<typeof faultPages>;

  private constructor(private readonly options: SignedServerOptions) {
    this.faults = new FaultRules(options.operations);
    this.servePage = faultPages(`${options.tenantId}: faults on request`, this.faults);
    this.server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
      this.serve(request, response).catch((error: unknown) => {
        if (response.destroyed) return;
        options.log(`${options.tenantId}: ${String(request.url)} failed: ${String(error)}`);
        sendJson(response, { status: 500, body: { error: 'internal error' } });
      });
    });
  }

  /** Starts a server. Until `trust` is called, its routes answer every call with 401. */
  static async start(options: SignedServerOptions): Promise<SignedServer> {
    const signed = new SignedServer(options);
    try {
      await listen(signed.server, options.port);
    } catch {
      await listen(signed.server, 0);
      options.log(`${options.tenantId}: port ${options.port} is not free, listening on ${signed.baseUrl}`);
    }
    return signed;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${this.options.basePath}`;
  }

  /** Accepts only calls signed with this secret from now on. */
  trust(secret: string): void {
    this.secret = secret;
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
    await this.options.journal.close();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { basePath, routes } = this.options;
    const path = (request.url ?? '').split('?')[0] ?? '';
    const name = path.startsWith(basePath) ? path.slice(basePath.length) : '';
    const route = request.method === 'POST' && Object.hasOwn(routes, name) ? routes[name] : undefined;
    if (!route) return this.serveUnsigned(request, response);
    const rawBody = await read(request);
    if (!this.authenticate(request, rawBody)) return send(response, 401, 'text/plain', 'invalid signature');
    const body = parse(rawBody);
    if (!body) return sendJson(response, badRequest('the body is not a JSON object'));
    const fault = this.faults.choose({ operation: route.operation(body), body, headers: request.headers });
    const answer = fault?.name === 'refuse' ? REFUSED : route.answer(body, fault?.name);
    // The answer may depend on a record that another call has just appended, so every call waits for the disk.
    await this.options.journal.flush();
    const text = { status: answer.status, text: JSON.stringify(answer.body) };
    if (fault?.name === 'answers-swapped') await this.answerSwap.deliver(response, text);
    else await deliver(response, text, fault);
  }

  /** Serves the fault rules and their documents, for people on this machine. */
  private async serveUnsigned(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.servePage(request, response)) return;
    if (request.url !== FAULTS_PATH || !['GET', 'PUT', 'DELETE'].includes(request.method ?? '')) {
      return sendJson(response, { status: 404, body: { error: 'not found' } });
    }
    if (request.method === 'DELETE') this.faults.clear();
    if (request.method === 'PUT') {
      const body = parse(await read(request));
      const wrong = body ? this.faults.replace(body) : 'the body is not a JSON object';
      if (wrong !== undefined) return sendJson(response, badRequest(wrong));
    }
    sendJson(response, { status: 200, body: { rules: this.faults.list() } });
  }

  private authenticate(request: IncomingMessage, body: Buffer): boolean {
    if (this.secret === undefined) return false;
    const now = this.clock.unixSeconds();
    const verification = verifyPlatformSignature({
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      secret: this.secret,
      tenantId: this.options.tenantId,
      now,
    });
    return (
      verification.ok &&
      this.nonces.claim(String(request.headers['x-nonce']), now + NONCE_MEMORY_SECONDS, now)
    );
  }
}

const REFUSED: Answer = { status: 503, body: { error: 'the sandbox was asked to refuse' } };

export function badRequest(error: string): Answer {
  return { status: 400, body: { error } };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/**
 * Reads the body of a request.
 * @throws Error if the body is too large or the caller has disconnected; in both cases the connection is closed
 */
async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new Error(`a body of more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(body: Buffer): Fields | undefined {
  try {
    return parseJsonObject(body);
  } catch {
    return undefined;
  }
}

function sendJson(response: ServerResponse, answer: Answer): void {
  send(response, answer.status, 'application/json', JSON.stringify(answer.body));
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}
