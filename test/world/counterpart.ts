import { verifyPlatformSignature } from '@croupier/provider-sdk';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseJsonObject } from '../../src/http/validation/json.js';

/** One call as it was received. */
export interface ReceivedCall {
  /** Ordinal of the call, from 1. */
  readonly order: number;
  readonly method: string;
  /** The path after the counterpart's base path. */
  readonly path: string;
  /** The request target as it stood on the request line. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  /** Empty if the body was not a JSON object. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Null if no secret is known for the named tenant. */
  readonly signatureOk: boolean | null;
  /** Whether this tenant used the nonce for the first time. */
  readonly nonceFresh: boolean;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: string | Buffer | object;
}

/** The ending of a call that is not answered correctly. */
export type Ending =
  | ({ do: 'answer' } & Reply)
  | { do: 'redirect'; to: string; status?: number }
  /** 200 that names its call as section 4 of the contract demands, with these further fields as JSON text. */
  | { do: 'answer-call'; fields: string; headers?: Record<string, string> }
  /** 200 and JSON by its header, but not by its content. */
  | { do: 'garbage' }
  /** The connection is closed without a byte. */
  | { do: 'drop' }
  /** Nothing, for ever. */
  | { do: 'hang' };

/** The ending of a call that was carried out. */
export type LateEnding =
  | Ending
  | { do: 'reply' }
  /** The true answer, preceded by other values of the same keys: the last value of a key counts. */
  | { do: 'duplicate-keys' }
  /** Half of the true answer, then the connection is closed. */
  | { do: 'truncate' }
  /** The true answer, byte by byte. */
  | { do: 'drip'; everyMs: number };

export type Behaviour =
  /** Nothing is carried out. */
  | Ending
  | { do: 'book-then'; then: LateEnding }
  /** Carried out once released, or on arrival; answered once released. */
  | { do: 'hold'; booking?: 'on-release' | 'on-arrival'; then?: LateEnding }
  /** Books a refusal with this reason; only for a wallet's transactions. */
  | { do: 'decline'; reason: string };

/** Selects calls: each given field must be equal, in the path or in the JSON body. */
export interface Match {
  readonly path?: string;
  readonly where?: (call: ReceivedCall) => boolean;
}

/** A behaviour that a test has set. */
export interface Scripted {
  /** The first call that this behaviour applied to. */
  readonly arrived: Promise<ReceivedCall>;
  /** Releases held calls and all later ones; only has an effect with `hold`. */
  release(): void;
  /** Ends this behaviour for further calls. */
  withdraw(): void;
}

interface Rule {
  readonly behaviour: Behaviour;
  readonly matches: (call: ReceivedCall) => boolean;
  readonly once: boolean;
  readonly arrive: (call: ReceivedCall) => void;
  readonly released: Promise<undefined>;
}

/** A recording HTTP server that carries calls out correctly unless a test has set a behaviour. */
export abstract class Counterpart<B extends Behaviour, M extends Match> {
  /** Every call, in order of arrival. */
  readonly received: ReceivedCall[] = [];
  /** Connections that were accepted since the start. */
  connections = 0;

  private readonly server = createServer({ keepAliveTimeout: 65_000 });
  private readonly secrets = new Map<string, readonly string[]>();
  private readonly nonces = new Set<string>();
  private rules: Rule[] = [];
  private choose: (call: ReceivedCall) => B | undefined = () => undefined;

  /**
   * @param basePath empty, or beginning with a slash and not ending with one
   * @param unixSeconds the time against which timestamps are judged
   */
  protected constructor(
    private readonly basePath: string,
    private readonly unixSeconds = () => Date.now() / 1000,
  ) {
    this.server.on('connection', () => (this.connections += 1));
    this.server.on('request', (request, response) => {
      this.serve(request, response).catch((error: unknown) => {
        send(response, { status: 500, body: { error: `the counterpart itself failed: ${String(error)}` } });
      });
    });
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${this.basePath}`;
  }

  /** Sets the secrets with which calls to this tenant may be signed. */
  setSecret(tenantId: string, ...secrets: string[]): void {
    this.secrets.set(tenantId, secrets);
  }

  /** Sets the behaviour for the next matching call that no earlier behaviour takes. */
  next(behaviour: B, match?: M): Scripted {
    return this.script(behaviour, match, true);
  }

  /** Sets the behaviour for every matching call, until it is withdrawn; those set by `next` come first. */
  always(behaviour: B, match?: M): Scripted {
    return this.script(behaviour, match, false);
  }

  /** Chooses the behaviour for each call that no other behaviour takes; undefined: it is carried out. */
  otherwise(choose: (call: ReceivedCall) => B | undefined): void {
    this.choose = choose;
  }

  /** Closes every connection, including hanging ones. */
  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  /**
   * Carries out the call.
   * @param decline the reason for which it is refused in any case
   */
  protected abstract carryOut(call: ReceivedCall, decline?: string): Reply;

  protected async listen(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  private script(behaviour: Behaviour, match: Match = {}, once: boolean): Scripted {
    const arrived = signal<ReceivedCall>();
    const released = signal<undefined>();
    const rule = {
      behaviour,
      matches: (call: ReceivedCall) => matches(call, match),
      once,
      arrive: arrived.give,
      released: released.given,
    };
    this.rules.push(rule);
    return {
      arrived: arrived.given,
      release: () => released.give(undefined),
      withdraw: () => this.forget(rule),
    };
  }

  private forget(rule: Rule): void {
    this.rules = this.rules.filter((other) => other !== rule);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = this.record(request, await bytes(request));
    const rule =
      this.rules.find((candidate) => candidate.once && candidate.matches(call)) ??
      this.rules.find((candidate) => candidate.matches(call));
    if (rule?.once) this.forget(rule);
    const behaviour = rule ? rule.behaviour : this.choose(call);
    const carriedOut = behaviour?.do === 'hold' && behaviour.booking === 'on-arrival' && this.carryOut(call);
    rule?.arrive(call);
    switch (behaviour?.do) {
      case undefined:
        return end(response, call, { do: 'reply' }, this.carryOut(call));
      case 'decline':
        return end(response, call, { do: 'reply' }, this.carryOut(call, behaviour.reason));
      case 'book-then':
        return end(response, call, behaviour.then, this.carryOut(call));
      case 'hold':
        await rule?.released;
        return end(response, call, behaviour.then ?? { do: 'reply' }, carriedOut || this.carryOut(call));
      default:
        return end(response, call, behaviour as Ending, { status: 500 });
    }
  }

  private record(request: IncomingMessage, rawBody: Buffer): ReceivedCall {
    const { method = '', url: target = '', headers } = request;
    const path = target.startsWith(this.basePath) ? target.slice(this.basePath.length) : target;
    const tenantId = String(headers['x-tenant-id']);
    const nonce = JSON.stringify([tenantId, headers['x-nonce']]);
    const secrets = this.secrets.get(tenantId);
    const now = this.unixSeconds();
    const call: ReceivedCall = {
      order: this.received.length + 1,
      method,
      path,
      target,
      headers,
      rawBody,
      json: jsonObject(rawBody),
      signatureOk: secrets
        ? verifyPlatformSignature({ method, path: target, headers, body: rawBody, secrets, tenantId, now }).ok
        : null,
      nonceFresh: !this.nonces.has(nonce),
    };
    this.nonces.add(nonce);
    this.received.push(call);
    return call;
  }
}

function signal<T>(): { given: Promise<T>; give: (value: T) => void } {
  let give: (value: T) => void = () => undefined;
  const given = new Promise<T>((resolve) => (give = resolve));
  return { given, give };
}

function matches(call: ReceivedCall, { where, path, ...fields }: Match): boolean {
  if (path !== undefined && path !== call.path) return false;
  if (where && !where(call)) return false;
  return Object.entries(fields).every(([name, wanted]) => wanted === undefined || call.json[name] === wanted);
}

/** @param reply the true answer, which an ending may spoil */
function end(response: ServerResponse, call: ReceivedCall, ending: LateEnding, reply: Reply): void {
  switch (ending.do) {
    case 'reply':
      return send(response, reply);
    case 'answer':
      return send(response, ending);
    case 'answer-call': {
      const named = JSON.stringify(namesOf(call)).slice(0, -1);
      const headers = { ...JSON_TYPE, ...ending.headers };
      return send(response, { status: 200, headers, body: `${named},${ending.fields}}` });
    }
    case 'redirect':
      return send(response, { status: ending.status ?? 307, headers: { Location: ending.to } });
    case 'garbage':
      return send(response, { status: 200, headers: JSON_TYPE, body: '<html>{"status":' });
    case 'drop':
      response.socket?.destroy();
      return;
    case 'hang':
      return;
    case 'duplicate-keys': {
      const truth = JSON.stringify(reply.body).slice(1);
      return send(response, {
        ...reply,
        headers: JSON_TYPE,
        body: `{"status":"APPROVED","balance":1,${truth}`,
      });
    }
    case 'truncate': {
      const body = begin(response, reply);
      response.write(body.subarray(0, body.length / 2), () => response.socket?.destroySoon());
      return;
    }
    case 'drip': {
      const body = begin(response, reply);
      let sent = 0;
      const timer = setInterval(() => {
        response.write(body.subarray(sent, (sent += 1)));
        if (sent < body.length) return;
        clearInterval(timer);
        response.end();
      }, ending.everyMs);
      response.once('close', () => clearInterval(timer));
    }
  }
}

/** The fields by which a wallet's answer names its call. */
function namesOf({ json: { transactionId, playerRef, currency } }: ReceivedCall): object {
  return transactionId === undefined ? { playerRef, currency } : { transactionId };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

function send(response: ServerResponse, reply: Reply): void {
  response.end(begin(response, reply));
}

/** Writes the head and returns the body's bytes. */
function begin(response: ServerResponse, { status, headers, body = '' }: Reply): Buffer {
  const isBytes = typeof body === 'string' || Buffer.isBuffer(body);
  const content = Buffer.from(isBytes ? body : JSON.stringify(body));
  const type = isBytes ? {} : JSON_TYPE;
  response.writeHead(status, { ...type, 'Content-Length': content.length, ...headers });
  return content;
}

async function bytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function jsonObject(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    return parseJsonObject(body);
  } catch {
    return {};
  }
}
