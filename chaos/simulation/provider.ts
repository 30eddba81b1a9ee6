import { CroupierError } from '../../src/errors/croupier-error.js';
import type { ProviderFacts, TransactionRequest } from '../../src/wallet/rules/facts.js';
import type { Seeded } from '../seeded.js';
import { type SimulatedInstance, TOKEN } from './instance.js';
import type { Network } from './network.js';
import type { SimulatedTime } from './time.js';

/** Time-out of the client, in milliseconds. */
const PATIENCE_MS = 4000;

export interface Outcome {
  readonly status: 'APPROVED' | 'DECLINED';
  readonly declineReason?: string;
}

type Answer =
  | { readonly to: 'definite'; readonly body: string }
  | { readonly to: 'refused'; readonly code: string }
  | { readonly to: 'lost' };

/** A provider that repeats each request until the answer is definite, or gives up after some tries. */
export class SimulatedProvider {
  readonly violations: string[] = [];
  /** How often it received TRANSACTION_IN_FLIGHT. */
  inFlight = 0;
  private readonly answers = new Map<string, string>();
  private readonly pursued = new Set<{ readonly request: TransactionRequest; latest: string }>();

  constructor(
    private readonly time: SimulatedTime,
    private readonly random: Seeded,
    private readonly network: Network,
    private readonly instances: readonly SimulatedInstance[],
    private readonly provider: ProviderFacts,
  ) {}

  get idle(): boolean {
    return this.pursued.size === 0;
  }

  /** The pending requests, with their latest answers. */
  get waitingFor(): string[] {
    return [...this.pursued].map(({ request, latest }) => `${request.transactionId} (${latest})`);
  }

  lastOutcome(transactionId: string): Outcome | undefined {
    const body = this.answers.get(transactionId);
    return body === undefined ? undefined : (JSON.parse(body) as Outcome);
  }

  /** @param patient whether it never gives up */
  pursue(request: TransactionRequest, patient = false): void {
    const pursuit = { request, latest: 'no answer yet' };
    this.pursued.add(pursuit);
    const tries = patient || this.random.chance(0.7) ? Infinity : 1 + this.random.below(3);
    void this.repeat(pursuit, tries).finally(() => this.pursued.delete(pursuit));
  }

  private async repeat(
    pursuit: { readonly request: TransactionRequest; latest: string },
    tries: number,
  ): Promise<void> {
    for (let left = tries; left > 0; left -= 1) {
      const answers = [this.send(pursuit.request)];
      // A network may deliver a request twice.
      if (this.random.chance(0.15)) answers.push(this.send(pursuit.request));
      const [answer] = await Promise.all(answers);
      if (!answer || answer.to === 'definite') return;
      pursuit.latest = answer.to === 'refused' ? answer.code : 'lost';
      await this.time.sleep(this.random.between(10, this.random.pick([50, 1000, 3000])));
    }
  }

  private async send(request: TransactionRequest): Promise<Answer> {
    const answer = await this.exchange(request);
    if (answer.to === 'definite') this.recordAnswer(request, answer.body);
    if (answer.to === 'refused') this.judgeRefusal(request, answer.code);
    return answer;
  }

  private exchange(request: TransactionRequest): Promise<Answer> {
    const instance = this.random.pick(this.instances);
    const { network, time } = this;
    return new Promise((resolve) => {
      const noLonger = time.after(PATIENCE_MS, () => resolve({ to: 'lost' }));
      const answer = (given: Answer) => {
        if (network.losesAnswer()) return;
        network.hop(() => {
          noLonger();
          resolve(given);
        });
      };
      network.hop(() =>
        instance.deliver(() => {
          instance.submit(this.provider, { ...request, sessionToken: TOKEN }).then(
            ({ body }) => answer({ to: 'definite', body }),
            (error: unknown) =>
              answer({ to: 'refused', code: error instanceof CroupierError ? error.code : String(error) }),
          );
        }),
      );
    });
  }

  /** A definite answer never changes; only a BET that was APPROVED may be rolled back later. */
  private recordAnswer({ transactionId }: TransactionRequest, body: string): void {
    const before = this.answers.get(transactionId);
    if (before !== undefined && before !== body && !mayFollow(before, body)) {
      // An answer may overtake an earlier one.
      if (mayFollow(body, before)) return;
      this.violations.push(`${transactionId} was answered ${before} and then ${body}`);
    }
    this.answers.set(transactionId, body);
  }

  private judgeRefusal({ transactionId }: TransactionRequest, code: string): void {
    if (code === 'TRANSACTION_IN_FLIGHT') this.inFlight += 1;
    const expected = ['TRANSACTION_IN_FLIGHT', 'OPERATOR_TIMED_OUT', 'OPERATOR_UNAVAILABLE'].includes(code);
    if (!expected && !code.includes('connection to the database')) {
      this.violations.push(`${transactionId} was refused: ${code}`);
    }
  }
}

const ROLLED_BACK = 'TRANSACTION_ROLLED_BACK';

function mayFollow(before: string, after: string): boolean {
  const [first, second] = [JSON.parse(before) as Outcome, JSON.parse(after) as Outcome];
  return (
    second.declineReason === ROLLED_BACK &&
    (first.status === 'APPROVED' || first.declineReason === ROLLED_BACK)
  );
}
