import { verifyPlatformSignature } from '@croupier/provider-sdk';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseJsonObject } from '../../src/api/validation/json.js';
import { type Ending, Endings, type LateEnding, type Reply } from './endings.js';

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

export type Behaviour =
  /** Nothing is carried out. */
  | Ending
  | { do: 'book-then'; then: LateEnding }
  /** Carried out once released, or on arrival; answered once released. */
  | { do: 'hold'; booking?: 'on-release' | 'on-arrival'; then?: LateEnding }
  /** Books a refusal with this reason; only for a wallet's transactions. */
  | { do: 'decline'; reason: string; then?: LateEnding };

/** @param handle carries the call out and answers it */
type Surrounding = (call: ReceivedCall, handle: () => Promise<void>) => Promise<void>;

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
  private readonly endings = new Endings();
  private rules: Rule[] = [];
  private choose: (call: ReceivedCall) => B | undefined = () => undefined;
  private surrounding: Surrounding = (_, handle) => handle();

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
        const body = { error: `the counterpart itself failed: ${String(error)}` };
        this.endings.end(response, { json: {} }, { do: 'answer', status: 500, body }, { status: 500 });
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

  /** Runs around each call from its arrival on. */
  surround(surrounding: Surrounding): void {
    this.surrounding = surrounding;
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
    this.endings.arrived(request.socket);
    await this.surrounding(call, () => this.handle(call, response));
  }

  private async handle(call: ReceivedCall, response: ServerResponse): Promise<void> {
    const rule =
      this.rules.find((candidate) => candidate.once && candidate.matches(call)) ??
      this.rules.find((candidate) => candidate.matches(call));
    if (rule?.once) this.forget(rule);
    const behaviour = rule ? rule.behaviour : this.choose(call);
    const carriedOut = behaviour?.do === 'hold' && behaviour.booking === 'on-arrival' && this.carryOut(call);
    rule?.arrive(call);
    const end = (ending: LateEnding, reply: Reply) => this.endings.end(response, call, ending, reply);
    switch (behaviour?.do) {
      case undefined:
        return end(REPLY, this.carryOut(call));
      case 'decline':
        return end(behaviour.then ?? REPLY, this.carryOut(call, behaviour.reason));
      case 'book-then':
        return end(behaviour.then, this.carryOut(call));
      case 'hold':
        await rule?.released;
        return end(behaviour.then ?? REPLY, carriedOut || this.carryOut(call));
      default:
        return end(behaviour as Ending, { status: 500 });
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

const REPLY: LateEnding = { do: 'reply' };

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

async function bytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function jsonObject(body: Buffer): Readonly<Record<string, unknown>> {
  return parseJsonObject(body) ?? {};
}
