import { CALLBACK_ROUTES, verifyPlatformSignature } from '@croupier/provider-sdk';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Call {
  path: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  raw: string;
}

export type Fields = Record<string, unknown>;

export interface Answer {
  status: number;
  /** An object is sent as JSON. */
  body: object | string;
  headers?: Record<string, string>;
}

export interface Batch {
  externalRef: string;
  grant: Fields;
  remaining: number;
  played: number;
  cancelled: boolean;
}

/** What a provider has stored. */
export interface Stored {
  /** By externalRef. */
  batches: Map<string, Batch>;
  /** By the key of the grant. */
  grants: Map<string, Batch>;
  revocations: Set<string>;
  nonces: Map<string, number>;
}

/** What a provider does, in steps that a mutation replaces one by one. */
export interface Behaviour {
  /** Judges signature, tenant and time. */
  verifies: (call: Call) => boolean;
  nonceKey: (call: Call) => string;
  /** Stores a nonce; false if it is known. */
  claims: (key: string, stored: Stored) => boolean;
  refusal: Answer;
  /** Runs before a call is carried out. */
  work: (call: Call) => Promise<void>;
  /** @throws SyntaxError if the body is not JSON */
  parse: (raw: string) => Fields;
  grantKey: (grant: Fields) => string;
  /** Finds the batch of a grant that arrives again. */
  known: (key: string, stored: Stored, grant: Fields) => Batch | undefined | Promise<Batch | undefined>;
  newReference: (stored: Stored, grant: Fields) => string;
  granted: (batch: Batch) => Answer;
  grantedAgain: (batch: Batch, grant: Fields, stored: Stored) => Answer;
  /** Refuses a grant. */
  objection: (grant: Fields) => Answer | undefined;
  find: (reference: Fields, stored: Stored) => Batch | undefined;
  unknown: (path: string) => Answer;
  status: (batch: Batch) => Answer;
  cancel: (batch: Batch, stored: Stored) => Answer;
  play: (batch: Batch) => Answer | Promise<Answer>;
  revoke: (revocation: Fields, stored: Stored) => Answer | Promise<Answer>;
  elsewhere: Answer;
  /** Changes an answer before it is sent. */
  finish: (answer: Answer, call: Call) => Answer;
}

export const TENANT = 'Spinwell';
export const SECRET = "the provider's secret";
export const PLAY_PATH = '/test/play';

export const ok = (body: object = {}): Answer => ({ status: 200, body });
export const refused = (status: number, error = 'refused'): Answer => ({ status, body: { error } });

export const verification = (call: Call, more: { now?: number; tenantId?: string } = {}) =>
  verifyPlatformSignature({
    method: 'POST',
    path: call.path,
    headers: call.headers,
    body: call.raw,
    secret: SECRET,
    tenantId: TENANT,
    ...more,
  }).ok;

/** A right provider. */
export const RIGHT: Behaviour = {
  verifies: (call) => verification(call),
  nonceKey: ({ headers }) => headers['x-nonce'] ?? '',
  claims: (key, { nonces }) => !nonces.has(key) && nonces.set(key, Date.now()).has(key),
  refusal: { status: 401, body: 'invalid signature', headers: { 'Content-Type': 'text/plain' } },
  work: () => Promise.resolve(),
  parse: (raw) => JSON.parse(raw) as Fields,
  grantKey: ({ requestRef }) => String(requestRef),
  known: (key, { grants }) => grants.get(key),
  newReference: ({ batches }) => `batch-${batches.size + 1}`,
  granted: ({ externalRef }) => ok({ externalRef }),
  grantedAgain: ({ externalRef }) => ok({ externalRef }),
  objection: ({ requestRef }) => (typeof requestRef === 'string' ? undefined : refused(400, 'no requestRef')),
  find: ({ externalRef, playerRef, gameId }, { batches }) => {
    const batch = typeof externalRef === 'string' ? batches.get(externalRef) : undefined;
    return batch?.grant['playerRef'] === playerRef && batch?.grant['gameId'] === gameId ? batch : undefined;
  },
  unknown: () => refused(404, 'no such batch'),
  status: ({ remaining, played, grant }) =>
    ok({ remainingSpins: remaining, completed: played === grant['spins'] }),
  cancel: (batch) => {
    Object.assign(batch, { remaining: 0, cancelled: true });
    return ok();
  },
  play: (batch) => {
    if (batch.remaining === 0) return refused(409, 'no spin is left');
    batch.remaining -= 1;
    batch.played += 1;
    return ok();
  },
  revoke: ({ revocationRef }, { revocations }) => {
    revocations.add(String(revocationRef));
    return ok();
  },
  elsewhere: refused(404, 'no such route'),
  finish: (answer) => answer,
};

/** A provider over real HTTP that behaves as it is given; without anything, it is right. */
export class ReferenceProvider {
  private readonly stored: Stored = {
    batches: new Map(),
    grants: new Map(),
    revocations: new Set(),
    nonces: new Map(),
  };
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void this.serve(request, Buffer.concat(chunks).toString(), response));
  });

  private constructor(private readonly does: Behaviour) {}

  static async start(mutation: Partial<Behaviour> = {}): Promise<ReferenceProvider> {
    const provider = new ReferenceProvider({ ...RIGHT, ...mutation });
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

  private async serve(request: IncomingMessage, raw: string, response: ServerResponse): Promise<void> {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const call = { path: request.url ?? '', headers, raw };
    let answer: Answer;
    try {
      answer = this.does.finish(await this.answer(call), call);
    } catch {
      answer = refused(500, 'internal error');
    }
    const { status, body } = answer;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, answer.headers ?? { 'Content-Type': 'application/json' });
    response.end(status === 204 ? undefined : text);
  }

  private async answer(call: Call): Promise<Answer> {
    const { does, stored } = this;
    if (!does.verifies(call) || !does.claims(does.nonceKey(call), stored)) return does.refusal;
    let body: Fields;
    try {
      body = does.parse(call.raw);
    } catch (error) {
      if (error instanceof SyntaxError) return refused(400, 'not JSON');
      throw error;
    }
    await does.work(call);
    switch (call.path.replace(/^\/rgs/, '')) {
      case CALLBACK_ROUTES.grant:
        return this.grant(body);
      case CALLBACK_ROUTES.revoke:
        return does.revoke(body, stored);
      case CALLBACK_ROUTES.status:
      case CALLBACK_ROUTES.cancel:
      case PLAY_PATH: {
        const batch = does.find(body, stored);
        if (!batch) return does.unknown(call.path);
        if (call.path === CALLBACK_ROUTES.status) return does.status(batch);
        return call.path === PLAY_PATH ? does.play(batch) : does.cancel(batch, stored);
      }
      default:
        return does.elsewhere;
    }
  }

  private async grant(grant: Fields): Promise<Answer> {
    const { does, stored } = this;
    const objection = does.objection(grant);
    if (objection) return objection;
    const key = does.grantKey(grant);
    const known = await does.known(key, stored, grant);
    if (known) return does.grantedAgain(known, grant, stored);
    const externalRef = does.newReference(stored, grant);
    const batch = { externalRef, grant, remaining: Number(grant['spins']), played: 0, cancelled: false };
    stored.batches.set(externalRef, batch);
    stored.grants.set(key, batch);
    return does.granted(batch);
  }
}
