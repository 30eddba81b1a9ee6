import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parseJsonObject } from '../api/validation/json.js';
import { BoundedBytes } from '../runtime/bounded-bytes.js';
import { type Answer, AnswerSwap, deliver, jsonAnswer, send } from './faults/delivery.js';
import { faultPages, FAULTS_PATH } from './faults/fault-pages.js';
import { type ChosenFault, FaultRules, type HasEffect } from './faults/fault-rules.js';
import type { FaultName } from './faults/faults.js';
import type { Journal } from './journal.js';
import type { OpenRoute } from './open-route.js';

export interface CounterpartOptions {
  /** The expected `X-Tenant-ID`. */
  tenantId: string;
  /** The folder of the counterpart's journal. */
  folder: string;
  /** The preferred port; if it is taken, or 0, any free port is used. */
  port: number;
  /** The setting that the port comes from, for the message that it is taken. */
  portName?: string;
  log: (message: string) => void;
}

/** A POST to one of a counterpart's routes. Its signature is not verified yet. */
export interface Call {
  readonly method: string;
  /** The request target, which the signature covers. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /**
   * Waits until the caller has given up and disconnected, and then for the `ms` of the call's fault.
   * @throws Error if the server stops
   */
  readonly abandoned: () => Promise<void>;
}

/**
 * Chooses the fault of a verified call, before the call is carried out. Only some faults change what a counterpart does;
 * the others change how its answer is delivered.
 * @param hasEffect by default, every fault has an effect
 */
export type ChooseFault = (operation: string, body: object, hasEffect?: HasEffect) => FaultName | undefined;

interface ServerOptions extends CounterpartOptions {
  /** The paths of the signed routes; all are POST. */
  routes: readonly string[];
  /** The path of the base URL; empty by default. */
  basePath?: string;
  /** Further routes, which need no signature. */
  openRoutes?: readonly OpenRoute[];
  /** All operations of the signed routes. */
  operations: readonly string[];
  /** Closed together with the server. */
  journal: Pick<Journal<unknown>, 'flush' | 'close'>;
  /**
   * Verifies a call and carries it out. All records that it appends to the journal are durable before the answer is
   * sent.
   * @param secret the trusted secret
   * @returns undefined if the call gets no answer
   */
  answer: (call: Call, secret: string, chooseFault: ChooseFault) => Promise<Answer | undefined>;
}

const MAX_BODY_BYTES = 64 * 1024;
/** Maximum number of remembered nonces, enough for about 1,600 calls a second. Beyond it, calls get a 500 or 503. */
export const MAX_NONCES = 1_000_000;
/**
 * How long an idle connection is kept, in milliseconds. Clients keep it for less, so the server never closes it during
 * a call.
 */
const KEEP_ALIVE_MS = 65_000;

/**
 * A loopback HTTP server that answers as its fault rules say. The rules and their documents need no signature. Until
 * `trust` is called, every signed call gets a 401.
 */
export class CounterpartServer {
  private readonly server: Server;
  private readonly faults: FaultRules;
  private readonly answerSwap = new AnswerSwap();
  private readonly stopping = new AbortController();
  private readonly servePage: ReturnType<typeof faultPages>;
  private secret: string | undefined;

  private constructor(private readonly options: ServerOptions) {
    this.faults = new FaultRules(options.operations);
    this.servePage = faultPages(`${options.tenantId}: faults on request`, this.faults, options.openRoutes);
    this.server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
      this.serve(request, response).catch((error: unknown) => {
        if (response.destroyed) return;
        options.log(`${options.tenantId}: ${String(request.url)} failed: ${String(error)}`);
        send(response, jsonAnswer(500, { error: 'internal error' }));
      });
    });
  }

  static async start(options: ServerOptions): Promise<CounterpartServer> {
    const counterpart = new CounterpartServer(options);
    try {
      await listen(counterpart.server, options.port);
    } catch {
      await listen(counterpart.server, 0);
      const { tenantId, port, portName = 'port' } = options;
      options.log(`${tenantId}: ${portName} ${port} is not free, listening on ${counterpart.origin()}`);
    }
    return counterpart;
  }

  get baseUrl(): string {
    return this.origin() + (this.options.basePath ?? '');
  }

  /** Accepts only calls signed with this secret from now on. */
  trust(secret: string): void {
    this.secret = secret;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
    await this.options.journal.close();
  }

  private origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const isSigned = method === 'POST' && this.options.routes.includes(url.split('?')[0]!);
    if (!isSigned) return this.serveUnsigned(request, response);
    let fault: ChosenFault | undefined;
    const chooseFault: ChooseFault = (operation, body, hasEffect = () => true) => {
      fault = this.faults.choose({ operation, body: { ...body }, headers }, hasEffect);
      return fault?.name;
    };
    const { signal } = this.stopping;
    const abandoned = async () => {
      if (!response.destroyed) await once(response, 'close');
      await delay(fault?.ms, undefined, { ref: false, signal });
    };
    const call = { method, path: url, headers, body: await read(request), abandoned };
    const { secret, options } = this;
    const answer = secret === undefined ? INVALID_SIGNATURE : await options.answer(call, secret, chooseFault);
    // The answer may depend on a record that another call has just appended, so every call waits for the disk.
    await options.journal.flush();
    if (!answer || response.destroyed) return;
    if (fault?.name === 'answers-swapped') await this.answerSwap.deliver(response, answer);
    else await deliver(response, answer, fault);
    this.answerSwap.remember(answer);
  }

  /** Serves the open routes, the fault rules and the documents of both, for people on this machine. */
  private async serveUnsigned(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.servePage(request, response)) return;
    const [path, query] = (request.url ?? '').split('?', 2);
    const route = this.options.openRoutes?.find((each) => each.path === path);
    if (route && request.method === 'GET') return route.get(new URLSearchParams(query), response);
    if (request.url !== FAULTS_PATH || !['GET', 'PUT', 'DELETE'].includes(request.method ?? '')) {
      return send(response, jsonAnswer(404, { error: 'not found' }));
    }
    if (request.method === 'DELETE') this.faults.clear();
    if (request.method === 'PUT') {
      const body = parseJsonObject(await read(request));
      const wrong = body ? this.faults.replace(body) : NOT_AN_OBJECT;
      if (wrong !== undefined) return send(response, jsonAnswer(400, { error: wrong }));
    }
    send(response, jsonAnswer(200, { rules: this.faults.list() }));
  }
}

export const NOT_AN_OBJECT = 'the body is not a JSON object';

/** The answer to a call whose signature or nonce is invalid. Contract, section 2. */
export const INVALID_SIGNATURE: Answer = {
  status: 401,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: 'invalid signature',
};

async function listen(server: Server, port: number): Promise<void> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
}

/**
 * Reads the body of a request.
 * @throws Error if the body is too large or the caller has disconnected; in both cases the connection is closed
 */
async function read(request: IncomingMessage): Promise<Buffer> {
  const body = new BoundedBytes(MAX_BODY_BYTES);
  for await (const part of request as AsyncIterable<Buffer>) {
    if (!body.add(part)) throw new Error(`a body of more than ${MAX_BODY_BYTES} bytes`);
  }
  return body.bytes();
}
