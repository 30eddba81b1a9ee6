import { verifyPlatformSignature } from '@croupier/provider-sdk';
import { Unmet } from '../outcome.js';
import { outputOf } from './command-output.js';
import { type Arrival, FakePlatform, fieldsIn, type Step } from './fake-platform.js';

export type Verdict = 'approved' | 'declined' | 'not-booked' | 'unknown';
const VERDICTS: readonly string[] = ['approved', 'declined', 'not-booked', 'unknown'];
const ROUTE = '/v1/wallet/transaction';

/** The kind of the transaction that the client must send. */
export type Kind = 'BET' | 'WIN' | 'ROLLBACK';

/** Variables that are removed from the client's environment, in case this process has inherited them. */
const NO_TRANSACTION = { CROUPIER_BET: undefined, CROUPIER_WIN: undefined, CROUPIER_ROLLBACK: undefined };

/** The fields of a transaction except its kind, which is in the name of the environment variable: `CROUPIER_BET`. */
type Fields = Readonly<Record<string, string | number>> & { readonly transactionId: string };

interface ClientUnderTest {
  /** The program and its arguments. */
  command: readonly string[];
  tenantId: string;
  secret: string;
  /** Time-out of one run of the command, in milliseconds. */
  timeoutMs: number;
  /** Time-out that the client must give each attempt, in milliseconds. */
  attemptMs: number;
}

/** One run of the client: its verdict and the requests that it sent. */
export interface ClientRun {
  verdict: Verdict;
  arrivals: readonly Arrival[];
}

/** Runs the client under test against a fake platform. */
export class ClientRunner {
  private runs = 0;
  /** The number of requests received so far. */
  answered = 0;
  readonly noAnswers = { expected: 'a client that sends requests', received: 'no requests' };

  /** @param nowMs Unix time in milliseconds */
  constructor(
    private readonly client: ClientUnderTest,
    private readonly nowMs: () => number,
  ) {}

  /**
   * Runs the client, which sends one transaction; the fake platform answers by the script. Checks that each request has
   * the right route, a valid signature, a fresh nonce and the same body, and that this body has the kind and the given
   * fields.
   * @throws Unmet if a request is wrong, or the client gives no verdict
   */
  async run(kind: Kind, script: readonly Step[]): Promise<ClientRun> {
    this.runs += 1;
    const request = this.request(kind);
    // Each run has a platform of its own, so that no late request is taken for one of the next run.
    const platform = await FakePlatform.start(script, this.nowMs);
    const { arrivals, url } = platform;
    const output = await this.execute(url, kind, request).finally(() => platform.stop());
    this.answered += arrivals.length;
    this.checkRequests(arrivals, { ...request, kind });
    const last = output.trim().split('\n').at(-1) ?? '';
    const verdict = VERDICTS.find((each) => each === last.trim()) as Verdict | undefined;
    if (verdict) return { verdict, arrivals };
    throw new Unmet(
      `a last line of ${VERDICTS.join(', ')}`,
      last === '' ? 'no output' : `"${last.slice(0, 200)}"`,
    );
  }

  private request(kind: Kind): Fields {
    const fields = {
      sessionToken: `certify-session-${this.runs}`,
      transactionId: `certify-${process.pid}-${this.runs}`,
      playerRef: 'certify-player',
      gameId: 'certify-game',
      currency: 'EUR',
      roundId: `certify-round-${this.runs}`,
    };
    if (kind !== 'ROLLBACK') return { ...fields, amountMinor: 250 };
    return { ...fields, originalTransactionId: `certify-original-${process.pid}-${this.runs}` };
  }

  private execute(url: string, kind: Kind, request: Fields): Promise<string> {
    const { command, tenantId, secret, timeoutMs, attemptMs } = this.client;
    const environment = {
      CROUPIER_BASE_URL: url,
      CROUPIER_TENANT: tenantId,
      CROUPIER_SECRET: secret,
      CROUPIER_TIMEOUT_MS: String(attemptMs),
      ...NO_TRANSACTION,
      [`CROUPIER_${kind}`]: JSON.stringify(request),
    };
    return outputOf(command, environment, timeoutMs);
  }

  private checkRequests(arrivals: readonly Arrival[], request: Fields): void {
    const { tenantId, secret } = this.client;
    const [first] = arrivals;
    if (!first) throw new Unmet('a request', 'none');
    const nonces = new Set<unknown>();
    for (const { method, target, headers, body, atMs } of arrivals) {
      if (method !== 'POST' || target !== ROUTE)
        throw new Unmet(`POST ${ROUTE} alone`, `${method} ${target}`);
      const { 'content-type': type = 'none' } = headers;
      if (!/^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(type.trim()))
        throw new Unmet('Content-Type application/json', type);
      const call = { method, path: target, headers, body, tenantId, secret, now: atMs / 1000 };
      const verification = verifyPlatformSignature(call);
      if (!verification.ok) throw new Unmet('a valid signature on each request', verification.reason);
      if (nonces.has(headers['x-nonce'])) throw new Unmet('a fresh nonce for each request', 'the same again');
      nonces.add(headers['x-nonce']);
      if (body !== first.body) throw new Unmet('the same bytes each time', `${first.body}, then ${body}`);
    }
    const sent = fieldsIn(first.body);
    for (const [name, value] of Object.entries(request)) {
      if (sent[name] !== value) throw new Unmet(`${name} ${value}, a ${typeof value}`, described(sent[name]));
    }
  }
}

function described(value: unknown): string {
  return value === undefined ? 'no such field' : `${JSON.stringify(value)}, a ${typeof value}`;
}
