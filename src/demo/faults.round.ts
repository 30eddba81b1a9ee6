import { Randomness } from '../runtime/randomness.js';
import { type FaultName, FAULTS } from '../sandbox/faults/faults.js';
import { FAULTS_PATH } from '../sandbox/faults/fault-pages.js';
import { PlatformClient } from '../sandbox/platform-client.js';
import type { SandboxFile } from '../sandbox/sandbox-file.js';
import { type Expectation, type RoundOutput, TranscriptClient } from './transcript-client.js';

const PLAYER = { gameId: 'sandbox-slots', currency: 'EUR' };
const BET_MINOR = 1000;
const SPINS = 3;

/** Makes one call of the operation `on` misbehave: the call with number `nth`, by default the first. */
interface Rule {
  fault: FaultName;
  on: string;
  nth?: number;
  times?: number;
}

/**
 * Triggers each fault of the sandbox over real HTTP, and explains what the service did.
 * @throws Error at the first unexpected answer, with a message that shows it
 */
export async function playFaults(sandbox: SandboxFile, output: RoundOutput): Promise<void> {
  const round = await FaultsRound.start(sandbox, output);
  try {
    await round.declines();
    await round.failsAfterBooking();
    await round.staysSilent();
    for (const fault of ['cut-connection', 'unreadable-body', 'redirect'] as const)
      await round.answersInvalidly(fault);
    await round.answersUnusually();
    await round.swapsAnswers();
    await round.answersWrongBalance();
    await round.refusesGrant();
    await round.repeatsReference();
    await round.grantsWithoutReference();
  } finally {
    await round.clear();
  }
}

class FaultsRound {
  private readonly id = new Randomness().bytes(4).toString('hex');
  private readonly platform: TranscriptClient;
  private readonly player = { playerRef: `player-${this.id}`, ...PLAYER };
  private sessionToken = '';
  private balance = 0;
  private transactions = 0;
  /** That of the latest grant. */
  private requestRef = '';

  private constructor(
    private readonly sandbox: SandboxFile,
    private readonly output: RoundOutput,
  ) {
    this.platform = new TranscriptClient(new PlatformClient(sandbox.apiUrl), output);
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
    await this.setWalletRule({ fault: 'decline', on: 'BET', nth: 2 });
    await this.book('The first BET');
    const declined = await this.submit('The second BET', this.transaction('BET'), {
      status: 200,
      fields: { status: 'DECLINED', balance: this.balance },
    });
    this.explain(
      `A decline is an answer: status 200, declineReason ${String(declined['declineReason'])}. It is final, and the`,
      'same transactionId will be answered with it for ever.',
    );
  }

  async failsAfterBooking(): Promise<void> {
    await this.setWalletRule({ fault: 'book-and-answer-500', on: 'BET' });
    const bet = this.transaction('BET');
    await this.fail('A BET', bet);
    this.explain(
      'The wallet has booked it and answered 500, which says nothing about money: the service answers a 500 with',
      'X-Next-Action: retry-same-request, and remembers the BET as TIMED_OUT.',
    );
    this.balance -= BET_MINOR;
    await this.approve('The same BET again', bet);
    this.explain(
      'The wallet got the same transactionId again and booked nothing more: the money moved once.',
    );
  }

  async staysSilent(): Promise<void> {
    await this.setWalletRule({ fault: 'book-and-stay-silent', on: 'BET' });
    const bet = this.transaction('BET');
    this.output.print('\n(The service waits for the wallet until its time-out, 5 s by default.)');
    await this.fail('A BET without an answer', bet, 'OPERATOR_TIMED_OUT');
    const rollback = {
      ...this.transaction('ROLLBACK'),
      roundId: bet.roundId,
      originalTransactionId: bet.transactionId,
    };
    await this.approve('The game gives up and rolls the BET back', rollback);
    this.explain(
      'Whether or not the BET was booked, the ROLLBACK is right: the wallet reverses what it booked, or leaves a',
      'tombstone. Without it the service would have sent a ROLLBACK of its own a minute later.',
    );
    await this.submit('The BET once more, too late', bet, {
      status: 200,
      fields: { status: 'DECLINED', declineReason: 'TRANSACTION_ROLLED_BACK' },
    });
  }

  async answersInvalidly(fault: 'cut-connection' | 'unreadable-body' | 'redirect'): Promise<void> {
    await this.setWalletRule({ fault, on: 'WIN' });
    const win = this.transaction('WIN');
    await this.fail(`A WIN, with the fault ${fault}`, win);
    this.balance += BET_MINOR;
    await this.approve('The same WIN again', win);
    this.explain(
      fault === 'redirect'
        ? 'A redirect is never followed: like any answer but a 200, it leaves the outcome unknown.'
        : 'Only a 200 with a status and an integer balance is an answer. Anything else leaves the outcome unknown.',
    );
  }

  async answersUnusually(): Promise<void> {
    await this.setWalletRule({ fault: 'answer-slowly', on: 'BET' });
    await this.book('A BET that is answered byte by byte');
    this.explain(
      'The answer was slow but in time: the time-out covers everything from connecting to the last byte.',
    );
    await this.setWalletRule({ fault: 'answer-twice', on: 'BET' });
    await this.book('A BET that is answered twice');
    await this.book('The next BET');
    this.explain(
      'The second answer was not mistaken for that of the next BET: its connection is not used again.',
    );
  }

  async swapsAnswers(): Promise<void> {
    await this.setWalletRule({ fault: 'answers-swapped', on: 'BET', times: 2 });
    const [one, two] = [this.transaction('BET'), this.transaction('BET')];
    await Promise.all([this.fail('A BET at the same time as another', one), this.fail('The other BET', two)]);
    this.explain(
      'Each got the answer to the other. An answer counts only if it names its transactionId, so neither was believed.',
    );
    this.balance -= 2 * BET_MINOR;
    await this.approve('The first of the two again', one);
    await this.approve('The second again', two);
  }

  async answersWrongBalance(): Promise<void> {
    await this.setWalletRule({ fault: 'wrong-balance', on: 'BET' });
    this.balance -= BET_MINOR;
    await this.submit('A BET with a wrong balance', this.transaction('BET'), {
      status: 200,
      fields: { status: 'APPROVED', balance: this.balance + 1 },
    });
    this.explain(
      'The wallet is the source of truth, so the service forwards its balance unchanged and computes none itself;',
      'npm run reconcile compares the transactions.',
    );
    await this.readBalance('The actual balance', this.balance);
  }

  async refusesGrant(): Promise<void> {
    await this.setProviderRule({ fault: 'refuse', on: 'grant' });
    await this.failGrant('A grant that the provider refuses');
    this.explain(
      'A grant callback is sent once and never repeated automatically. The grant is FAILED with its cause on record; a',
      'person decides whether to resend it.',
    );
    const { requestRef } = this;
    const resend = {
      title: 'Resent by the operator',
      path: `/v1/operator/free-spins/${requestRef}/resend`,
      body: {},
    };
    await this.platform.play(this.sandbox.operator, resend, {
      status: 200,
      fields: { requestRef, state: 'GRANTED' },
    });
  }

  async repeatsReference(): Promise<void> {
    await this.setProviderRule({ fault: 'same-external-ref', on: 'grant' });
    const expected = { status: 201, fields: { state: 'GRANTED', duplicateOf: this.requestRef } };
    await this.grant('A grant that is answered with the externalRef of the previous one', expected);
    this.explain(
      'Both grants name the same spins, so a WIN counts in the first only: the second is its duplicate, and a person is',
      'asked to clarify what the provider has granted.',
    );
  }

  async grantsWithoutReference(): Promise<void> {
    await this.setProviderRule({ fault: 'no-external-ref', on: 'grant' });
    await this.failGrant('A grant that is answered without an externalRef');
    this.explain(
      'A 200 without an externalRef is a failure: without it the spins could be neither cancelled nor queried.',
    );
    await this.readBalance('The balance at the end: everything adds up', this.balance);
  }

  /** Removes all rules of both counterparts. */
  async clear(): Promise<void> {
    for (const url of [this.sandbox.walletUrl, this.sandbox.providerUrl]) {
      await new PlatformClient(new URL(url).origin).plain('DELETE', FAULTS_PATH);
    }
  }

  private setWalletRule(rule: Rule): Promise<void> {
    return this.setRule('wallet', this.sandbox.walletUrl, rule);
  }

  private setProviderRule(rule: Rule): Promise<void> {
    return this.setRule('provider', this.sandbox.providerUrl, rule);
  }

  private async setRule(who: string, url: string, rule: Rule): Promise<void> {
    const { origin } = new URL(url);
    const counterpart = new TranscriptClient(new PlatformClient(origin), this.output);
    const title = `The ${who} is asked to misbehave: ${FAULTS[rule.fault].does}`;
    const rules = [{ ...rule, playerRefPrefix: this.player.playerRef }];
    await counterpart.configure(title, 'PUT', FAULTS_PATH, { rules });
  }

  private transaction(kind: 'BET' | 'WIN' | 'ROLLBACK') {
    this.transactions += 1;
    const transactionId = `${this.id}-${kind.toLowerCase()}-${this.transactions}`;
    const amount = kind === 'ROLLBACK' ? {} : { amountMinor: BET_MINOR };
    // A WIN of free spins needs no BET.
    const freeSpins = kind === 'WIN' ? { freeSpinsRef: `${this.id}-spins` } : {};
    return { transactionId, kind, roundId: `${this.id}-${this.transactions}`, ...amount, ...freeSpins };
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

  private failGrant(title: string): Promise<void> {
    return this.grant(title, { status: 502, fields: {}, code: 'PROVIDER_FAILED' });
  }

  private async grant(title: string, expected: Expectation): Promise<void> {
    this.transactions += 1;
    this.requestRef = `${this.id}-grant-${this.transactions}`;
    const { requestRef } = this;
    const body = { requestRef, ...this.player, spins: SPINS, betAmountMinor: BET_MINOR };
    await this.platform.play(
      this.sandbox.operator,
      { title, path: '/v1/operator/free-spins', body },
      expected,
    );
  }

  private explain(...lines: string[]): void {
    this.output.print(`\n${lines.map((line) => `  → ${line}`).join('\n')}`);
  }
}
