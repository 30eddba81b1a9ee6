import { spawn } from 'node:child_process';
import { verifyPlatformSignature } from '../../../signature.js';
import { Unmet } from '../outcome.js';
import { type Arrival, FakePlatform, type Step } from './fake-platform.js';

export type Verdict = 'approved' | 'declined' | 'not-booked' | 'unknown';
const VERDICTS: readonly string[] = ['approved', 'declined', 'not-booked', 'unknown'];
const ROUTE = '/v1/wallet/transaction';

export interface ClientUnderTest {
  /** The program and its arguments. */
  command: readonly string[];
  tenantId: string;
  secret: string;
  /** Time-out of one run of the command, in milliseconds. */
  timeoutMs: number;
  /** The time-out per attempt that the client is given, in milliseconds. */
  attemptMs: number;
}

/** One run of the client: its verdict and the requests that it sent. */
export interface ClientRun {
  verdict: Verdict;
  arrivals: readonly Arrival[];
}

/** Runs the client under test against the fake platform. */
export class ClientRunner {
  private runs = 0;
  /** The number of requests that arrived so far. */
  answered = 0;

  private constructor(
    readonly client: ClientUnderTest,
    private readonly platform: FakePlatform,
  ) {}

  static async start(client: ClientUnderTest, nowMs: () => number): Promise<ClientRunner> {
    return new ClientRunner(client, await FakePlatform.start(nowMs));
  }

  get url(): string {
    return this.platform.url;
  }

  stop(): Promise<void> {
    return this.platform.stop();
  }

  /**
   * Lets the client send one BET, answered by the script, and checks each request: its route, a valid signature, a
   * fresh nonce, the same transactionId and the same bytes.
   * @throws Unmet if a request is wrong, or the client gives no verdict
   */
  async run(script: readonly Step[]): Promise<ClientRun> {
    const arrivals = this.platform.play(script);
    this.runs += 1;
    const request = {
      sessionToken: `certify-session-${this.runs}`,
      transactionId: `certify-${process.pid}-${this.runs}`,
      playerRef: 'certify-player',
      gameId: 'certify-game',
      currency: 'EUR',
      amountMinor: 250,
      roundId: `certify-round-${this.runs}`,
    };
    const output = await this.execute(request);
    this.answered += arrivals.length;
    this.checkRequests(arrivals, request.transactionId);
    const last = output.trim().split('\n').at(-1) ?? '';
    const verdict = VERDICTS.find((each) => each === last.trim()) as Verdict | undefined;
    if (verdict) return { verdict, arrivals };
    throw new Unmet(
      `a last line of ${VERDICTS.join(', ')}`,
      last === '' ? 'no output' : `"${last.slice(0, 200)}"`,
    );
  }

  private execute(request: object): Promise<string> {
    const { command, tenantId, secret, timeoutMs, attemptMs } = this.client;
    const [program = '', ...args] = command;
    const environment = {
      CROUPIER_BASE_URL: this.url,
      CROUPIER_TENANT: tenantId,
      CROUPIER_SECRET: secret,
      CROUPIER_TIMEOUT_MS: String(attemptMs),
      CROUPIER_BET: JSON.stringify(request),
    };
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, {
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
      child.on('error', (error) => reject(new Unmet(`${program} to start`, error.message)));
      child.on('close', (_, signal) => {
        clearTimeout(timer);
        if (signal === 'SIGKILL') reject(new Unmet(`a verdict within ${timeoutMs} ms`, 'none'));
        else resolve(output);
      });
    });
  }

  private checkRequests(arrivals: readonly Arrival[], transactionId: string): void {
    const { tenantId, secret } = this.client;
    const [first] = arrivals;
    if (!first) throw new Unmet('a request', 'none');
    const nonces = new Set<unknown>();
    for (const { method, target, headers, body, atMs } of arrivals) {
      if (method !== 'POST' || target !== ROUTE)
        throw new Unmet(`POST ${ROUTE} alone`, `${method} ${target}`);
      const call = { method, path: target, headers, body, tenantId, secret, now: atMs / 1000 };
      const verification = verifyPlatformSignature(call);
      if (!verification.ok) throw new Unmet('a valid signature on each request', verification.reason);
      if (nonces.has(headers['x-nonce'])) throw new Unmet('a fresh nonce for each request', 'the same again');
      nonces.add(headers['x-nonce']);
      if (body !== first.body) throw new Unmet('the same bytes each time', `${first.body}, then ${body}`);
    }
    const sent = transactionIdIn(first.body);
    if (sent !== transactionId) throw new Unmet(`transactionId ${transactionId}`, String(sent));
  }
}

function transactionIdIn(body: string): unknown {
  try {
    return (JSON.parse(body) as { transactionId?: unknown }).transactionId;
  } catch {
    return undefined;
  }
}
