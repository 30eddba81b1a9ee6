import { Clock } from '../runtime/clock.js';
import { Randomness } from '../runtime/randomness.js';
import { PlatformClient } from '../sandbox/platform-client.js';
import type { SandboxFile } from '../sandbox/sandbox-file.js';
import { STATEMENT_PATH } from '../sandbox/statement.js';
import { FaultSteps } from './fault-steps.js';
import { GrantFaults } from './grant-faults.round.js';
import { type Expectation, type RoundOutput, TranscriptClient } from './transcript-client.js';

const PLAYER = { gameId: 'sandbox-slots', currency: 'EUR' };
const BET_MINOR = 1000;

/**
 * Triggers each fault of the sandbox over real HTTP, and explains what the service did.
 * @throws Error at the first unexpected answer, with a message that shows it
 */
export async function playFaults(sandbox: SandboxFile, output: RoundOutput): Promise<void> {
  await requireSandboxWallet(sandbox, output);
  const round = await FaultsRound.start(sandbox, output);
  try {
    await round.declines();
    await round.failsAfterBooking();
    await round.staysSilent();
    await round.losesTheCall();
    await round.booksLate();
    for (const fault of ['cut-connection', 'unreadable-body', 'redirect'] as const)
      await round.answersInvalidly(fault);
    await round.answersUnusually();
    await round.swapsAnswers();
    await round.answersWrongBalance();
    const grants = round.grants();
    await grants.refusesGrant();
    await grants.repeatsReference();
    await grants.grantsWithoutReference();
    await round.ends();
  } catch (error) {
    // The first failure says what is wrong. The same cause may prevent the removal of the rules.
    await round.steps.clear().catch(() => undefined);
    throw error;
  }
  await round.steps.clear();
}

/** @throws Error if the operator has another wallet, in which the sandbox can cause no faults */
async function requireSandboxWallet(sandbox: SandboxFile, output: RoundOutput): Promise<void> {
  const client = new TranscriptClient(new PlatformClient(sandbox.apiUrl), output);
  const path = `/v1/admin/operators/${sandbox.operator.id}`;
  const { json } = await client.read(sandbox.adminApiKey, "The operator, with its wallet's address", path, {
    status: 200,
    fields: { id: sandbox.operator.id },
  });
  if (json['walletBaseUrl'] === sandbox.walletUrl) return;
  throw new Error(
    `--faults needs the sandbox's wallet, ${sandbox.walletUrl}, but ${sandbox.operator.id} has the walletBaseUrl ` +
      `${String(json['walletBaseUrl'])}: set it back, or start the sandbox again.`,
  );
}

class FaultsRound {
  private readonly id = new Randomness().bytes(4).toString('hex');
  private readonly platform: TranscriptClient;
  private readonly player = { playerRef: `player-${this.id}`, ...PLAYER };
  private sessionToken = '';
  private balance = 0;
  private transactions = 0;
  private readonly startedAt = new Clock().now().toISOString();
  readonly steps: FaultSteps;

  private constructor(
    private readonly sandbox: SandboxFile,
    private readonly output: RoundOutput,
  ) {
    this.platform = new TranscriptClient(new PlatformClient(sandbox.apiUrl), output);
    this.steps = new FaultSteps(sandbox, output, this.player.playerRef);
  }

  /** Launches the session that all transactions use, and reads the initial balance. */
  static async start(sandbox: SandboxFile, output: RoundOutput): Promise<FaultsRound> {
    const round = new FaultsRound(sandbox, output);
    const launch = {
      title: 'The operator launches a session',
      path: '/v1/operator/sessions',
      body: round.player,
    };
    const { json } = await round.platform.play(sandbox.operator, launch, {
      status: 201,
      fields: { gameId: PLAYER.gameId, mode: 'REAL' },
    });
    round.sessionToken = String(json['sessionToken']);
    round.balance = await round.readBalance('The balance before');
    return round;
  }

  async declines(): Promise<void> {
    await this.steps.setWalletRule({ fault: 'decline', on: 'BET', nth: 2 });
    await this.book('The first BET');
    const declined = await this.submit('The second BET', this.transaction('BET'), {
      status: 200,
      fields: { status: 'DECLINED', balance: this.balance },
    });
    this.steps.explain(
      `A decline is an answer: status 200, declineReason ${String(declined['declineReason'])}. It is final, and the`,
      'same transactionId will be answered with it for ever.',
    );
  }

  async failsAfterBooking(): Promise<void> {
    await this.steps.setWalletRule({ fault: 'book-and-answer-500', on: 'BET' });
    const bet = this.transaction('BET');
    await this.fail('A BET', bet);
    this.steps.explain(
      'The wallet has booked it and answered 500, which says nothing about money: the service answers a 500 with',
      'X-Next-Action: retry-same-request, and remembers the BET as TIMED_OUT.',
    );
    this.balance -= BET_MINOR;
    await this.approve('The same BET again', bet);
    this.steps.explain(
      'The wallet got the same transactionId again and booked nothing more: the money moved once.',
    );
  }

  async staysSilent(): Promise<void> {
    await this.steps.setWalletRule({ fault: 'book-and-stay-silent', on: 'BET' });
    const bet = this.transaction('BET');
    this.output.print('\n(The service waits for the wallet until its time-out, 5 s by default.)');
    await this.fail('A BET without an answer', bet, 'OPERATOR_TIMED_OUT');
    await this.approve('The game gives up and rolls the BET back', this.rollbackOf(bet));
    this.steps.explain(
      'Whether or not the BET was booked, the ROLLBACK is right: the wallet reverses what it booked, or leaves a',
      'tombstone. Without it the service would have sent a ROLLBACK of its own a minute later.',
    );
    await this.submit('The BET once more, too late', bet, {
      status: 200,
      fields: { status: 'DECLINED', declineReason: 'TRANSACTION_ROLLED_BACK' },
    });
  }

  async losesTheCall(): Promise<void> {
    await this.steps.setWalletRule({ fault: 'lose-the-call', on: 'BET' });
    const bet = this.transaction('BET');
    await this.fail('A BET that does not reach the wallet', bet, 'OPERATOR_TIMED_OUT');
    this.balance -= BET_MINOR;
    await this.approve('The same BET again', bet);
    this.steps.explain(
      'A lost call looks like a lost answer: a missing answer is not a refusal. The repetition decides in both cases, and',
      'the money moves once.',
    );
  }

  async booksLate(): Promise<void> {
    await this.steps.setWalletRule({ fault: 'book-late', on: 'BET' });
    const bet = this.transaction('BET');
    await this.fail('A BET that the wallet is about to book late', bet, 'OPERATOR_TIMED_OUT');
    await this.approve('Its ROLLBACK, before the wallet has booked the BET', this.rollbackOf(bet));
    this.steps.explain(
      'The ROLLBACK has left a tombstone at the wallet. When the BET is booked at last, the wallet declines it. Without the',
      'ROLLBACK it would take the stake for a round that nobody plays.',
    );
  }

  async answersInvalidly(fault: 'cut-connection' | 'unreadable-body' | 'redirect'): Promise<void> {
    await this.steps.setWalletRule({ fault, on: 'WIN' });
    const win = this.transaction('WIN');
    await this.fail(`A WIN, with the fault ${fault}`, win);
    this.balance += BET_MINOR;
    await this.approve('The same WIN again', win);
    this.steps.explain(
      fault === 'redirect'
        ? 'A redirect is never followed: like any answer but a 200, it leaves the outcome unknown.'
        : 'Only a 200 with a status and an integer balance is an answer. Anything else leaves the outcome unknown.',
    );
  }

  async answersUnusually(): Promise<void> {
    await this.steps.setWalletRule({ fault: 'answer-slowly', on: 'BET' });
    await this.book('A BET that is answered byte by byte');
    this.steps.explain(
      'The answer was slow but in time: the time-out covers everything from connecting to the last byte.',
    );
    await this.steps.setWalletRule({ fault: 'answer-twice', on: 'BET' });
    await this.book('A BET that is answered twice');
    await this.book('The next BET');
    this.steps.explain(
      'The second answer was not mistaken for that of the next BET: its connection is not used again.',
    );
  }

  async swapsAnswers(): Promise<void> {
    await this.steps.setWalletRule({ fault: 'answers-swapped', on: 'BET', times: 2 });
    const [one, two] = [this.transaction('BET'), this.transaction('BET')];
    await Promise.all([this.fail('A BET at the same time as another', one), this.fail('The other BET', two)]);
    this.steps.explain(
      'Each got the answer to the other. An answer counts only if it names its transactionId, so neither was believed.',
    );
    this.balance -= 2 * BET_MINOR;
    await this.approve('The first of the two again', one);
    await this.approve('The second again', two);
  }

  async answersWrongBalance(): Promise<void> {
    await this.steps.setWalletRule({ fault: 'wrong-balance', on: 'BET' });
    this.balance -= BET_MINOR;
    await this.submit('A BET with a wrong balance', this.transaction('BET'), {
      status: 200,
      fields: { status: 'APPROVED', balance: this.balance + 1 },
    });
    this.steps.explain(
      'The wallet is the source of truth, so the service forwards its balance unchanged and computes none itself;',
      'npm run reconcile compares the transactions.',
    );
    await this.readBalance('The actual balance', this.balance);
  }

  grants(): GrantFaults {
    return new GrantFaults(this.sandbox, this.output, this.player, this.steps);
  }

  async ends(): Promise<void> {
    await this.readBalance('The balance at the end: everything adds up', this.balance);
    const statement = `${new URL(this.sandbox.walletUrl).origin}${STATEMENT_PATH}`;
    this.steps.explain(
      'The wallet serves its statement, with which npm run reconcile finds nothing, in spite of all these faults:',
      `${statement}?from=${this.startedAt}`,
    );
  }

  private transaction(kind: 'BET' | 'WIN' | 'ROLLBACK') {
    this.transactions += 1;
    const transactionId = `${this.id}-${kind.toLowerCase()}-${this.transactions}`;
    const amount = kind === 'ROLLBACK' ? {} : { amountMinor: BET_MINOR };
    // A WIN of free spins needs no BET.
    const freeSpins = kind === 'WIN' ? { freeSpinsRef: `${this.id}-spins` } : {};
    return { transactionId, kind, roundId: `${this.id}-${this.transactions}`, ...amount, ...freeSpins };
  }

  private rollbackOf({ transactionId, roundId }: { transactionId: string; roundId: string }) {
    return { ...this.transaction('ROLLBACK'), roundId, originalTransactionId: transactionId };
  }

  /** Sends a BET and expects it to be booked. */
  private async book(title: string): Promise<void> {
    this.balance -= BET_MINOR;
    await this.approve(title, this.transaction('BET'));
  }

  private approve(title: string, transaction: object): Promise<unknown> {
    const fields = { status: 'APPROVED', balance: this.balance };
    return this.submit(title, transaction, { status: 200, fields });
  }

  private async fail(title: string, transaction: object, code = 'OPERATOR_UNAVAILABLE'): Promise<void> {
    await this.submit(title, transaction, { status: 500, fields: {}, code });
  }

  private async submit(
    title: string,
    transaction: object,
    expected: Expectation,
  ): Promise<Readonly<Record<string, unknown>>> {
    const body = { sessionToken: this.sessionToken, ...transaction, ...this.player };
    const request = { title, path: '/v1/wallet/transaction', body };
    return (await this.platform.play(this.sandbox.provider, request, expected)).json;
  }

  /** @param expected the expected balance, in minor units; undefined: any */
  private async readBalance(title: string, expected?: number): Promise<number> {
    const request = { title, path: '/v1/wallet/balance', body: { sessionToken: this.sessionToken } };
    const fields = expected === undefined ? {} : { balance: expected };
    const { json } = await this.platform.play(this.sandbox.provider, request, { status: 200, fields });
    return Number(json['balance']);
  }
}
