import type {
  BalanceAnswer,
  MovementRequest,
  OperatorWallet,
  Player,
  WalletAnswer,
} from '../../src/operator-wallet/operator-wallet.js';
import { balanceIn, decisionIn } from '../../src/operator-wallet/wallet-answers.js';
import type { CallOutcome } from '../../src/outbound/answer.js';
import type { Bug } from './database.js';
import type { Network } from './network.js';
import type { SimulatedTime } from './time.js';
import type { SimulatedWallet } from './wallet.js';

export const WALLET_TIMEOUT_MS = 2000;

/** The environment of the calls. */
export interface CallSurroundings {
  readonly time: SimulatedTime;
  readonly network: Network;
  readonly wallet: SimulatedWallet;
  readonly bug: Bug | undefined;
  /** Called with each call to the wallet as it leaves the instance; returns a function to call at its end. */
  readonly onCall: (request: MovementRequest) => () => void;
}

/** The calls of one process to the operator's wallet, which gives its answers as JSON. */
export class WalletCalls implements OperatorWallet {
  /** Concludes the calls under way, the oldest first. */
  private readonly underWay = new Set<(outcome: CallOutcome) => void>();

  /** @param deliver runs code in the process, unless it has been killed */
  constructor(
    private readonly around: CallSurroundings,
    private readonly deliver: (run: () => void) => void,
  ) {}

  async book(request: MovementRequest): Promise<WalletAnswer> {
    const over = this.around.onCall(request);
    const outcome = await this.call((decline) => this.around.wallet.book(request, decline));
    over();
    // The planted bug: the answer is taken for this call's own, whichever call it names.
    const unbound = this.around.bug === 'unbound-answer' && outcome.kind === 'answered';
    return decisionIn(outcome, unbound ? { ...request, ...namesIn(outcome.body) } : request);
  }

  async balance(player: Player): Promise<BalanceAnswer> {
    return balanceIn(await this.call(() => this.around.wallet.balance(player)), player);
  }

  /** A call to the wallet with its time-out. */
  private call(carryOut: (decline: boolean) => object): Promise<CallOutcome> {
    const { network, time } = this.around;
    return new Promise((resolve) => {
      const conclude = (outcome: CallOutcome) => {
        noLonger();
        this.underWay.delete(conclude);
        resolve(outcome);
      };
      this.underWay.add(conclude);
      const noLonger = time.after(WALLET_TIMEOUT_MS, () => this.deliver(() => conclude(TIMED_OUT)));
      const deliver = (outcome: CallOutcome) => network.hop(() => this.deliver(() => conclude(outcome)));
      this.exchange(carryOut, deliver);
    });
  }

  /** Lets a call reach the wallet, and its answer the call, according to its fate. */
  private exchange(carryOut: (decline: boolean) => object, deliver: (outcome: CallOutcome) => void): void {
    const { network, time } = this.around;
    const { fate, lateMs, decline } = network.fateOfCall();
    const arrive = () => ({ outcome: answered(200, carryOut(decline)), deliver });
    switch (fate) {
      case 'answered':
        return network.hop(() => network.answer(arrive()));
      case 'refused':
        return network.hop(() => deliver(REFUSED));
      case 'silent':
        return;
      case 'booked-refused':
        return network.hop(() => {
          arrive();
          deliver(REFUSED);
        });
      case 'booked-silent':
        return network.hop(() => void arrive());
      case 'late':
        time.after(lateMs, arrive);
        return;
      case 'twice':
        time.after(lateMs, arrive);
        return network.hop(() => network.answer(arrive()));
      case 'swapped':
        return network.hop(() => network.swap(arrive()));
      case 'answered-twice':
        return network.hop(() => {
          const answer = arrive();
          network.answer(answer);
          network.hop(() => this.deliver(() => this.receiveExtra(answer.outcome)));
        });
    }
  }

  /** An extra answer arrives on a kept-alive connection: the latest call under way takes it for its own. */
  private receiveExtra(outcome: CallOutcome): void {
    const conclude = [...this.underWay].at(-1);
    if (!conclude) return;
    this.around.network.misdelivered += 1;
    conclude(outcome);
  }
}

function answered(status: number, body: object): CallOutcome {
  return { kind: 'answered', status, body: Buffer.from(JSON.stringify(body)) };
}

/** The transactionId that an answer names. */
function namesIn(body: Buffer): Pick<MovementRequest, 'transactionId'> {
  const { transactionId } = JSON.parse(body.toString()) as MovementRequest;
  return { transactionId };
}

const REFUSED = answered(503, {});
const TIMED_OUT: CallOutcome = { kind: 'timeout', detail: '' };
