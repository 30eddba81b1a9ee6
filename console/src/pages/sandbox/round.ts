import { signal } from '@preact/signals';
import { sandbox as words } from '../../strings.ts';
import { type Call, type Exchange, type SandboxAccess, send, type Tenant } from './signed-calls.ts';

/** The newest exchanges are kept. */
const MAX_EXCHANGES = 100;

export interface Player {
  readonly playerRef: string;
  readonly gameId: string;
  readonly currency: string;
}

interface Session extends Player {
  readonly sessionToken: string;
}

interface Bet {
  readonly transactionId: string;
  readonly roundId: string;
}

/** A round that is played step by step, by the rules of a provider: a WIN and a ROLLBACK belong to the last BET. */
export class SandboxRound {
  private lastCall: Call | undefined;
  private count = 0;
  /** In each id: after a reload, the counting begins again, also for the same player. */
  private readonly unique = crypto.randomUUID().slice(0, 8);

  /** Newest first. */
  readonly exchanges = signal<readonly Exchange[]>([]);
  readonly session = signal<Session | undefined>(undefined);
  readonly bet = signal<Bet | undefined>(undefined);
  readonly busy = signal(false);
  /** The fault that the wallet shows in the next transaction; `` for none. */
  readonly fault = signal('');

  /** A player without transactions. */
  readonly suggestedPlayer = `player-${this.unique}`;

  async launch({ operator }: SandboxAccess, player: Player): Promise<void> {
    const path = '/v1/operator/sessions';
    const call = { title: words.launch, tenant: operator, path, body: { ...player } };
    const { status, answer } = await this.play(call);
    if (status !== 201) return;
    const { sessionToken } = JSON.parse(answer) as { sessionToken: string };
    this.session.value = { ...player, sessionToken };
    this.bet.value = undefined;
  }

  async verify({ provider }: SandboxAccess): Promise<void> {
    await this.call(words.verify, provider, 'session/verify', {});
  }

  async balance({ provider }: SandboxAccess): Promise<void> {
    await this.call(words.balance, provider, 'balance', {});
  }

  async submitBet({ provider }: SandboxAccess, amountMinor: number): Promise<void> {
    this.count += 1;
    const bet = { transactionId: this.nextId('bet'), roundId: this.nextId('round') };
    this.bet.value = bet;
    await this.submit(words.bet, provider, { ...bet, kind: 'BET', amountMinor });
  }

  async submitWin({ provider }: SandboxAccess, amountMinor: number): Promise<void> {
    const { roundId } = this.bet.value!;
    this.count += 1;
    const fields = { transactionId: this.nextId('win'), kind: 'WIN', roundId, amountMinor };
    await this.submit(words.win, provider, { ...fields, roundClosed: true });
  }

  async submitRollback({ provider }: SandboxAccess): Promise<void> {
    const { roundId, transactionId: originalTransactionId } = this.bet.value!;
    this.count += 1;
    const transactionId = this.nextId('rollback');
    await this.submit(words.rollback, provider, {
      transactionId,
      kind: 'ROLLBACK',
      roundId,
      originalTransactionId,
    });
  }

  /** Sends the last call again, with a new signature and without a fault, as a provider does that got no answer. */
  async repeat(): Promise<void> {
    if (!this.lastCall) return;
    await this.play({ ...this.lastCall, fault: undefined }, words.again(this.lastCall.title));
  }

  private nextId(kind: string): string {
    return `${kind}-${this.unique}-${this.count}`;
  }

  /** A fault is for one transaction: the next one is undisturbed. */
  private submit(
    title: string,
    tenant: Tenant,
    transaction: Readonly<Record<string, unknown>>,
  ): Promise<Exchange> {
    const { playerRef, gameId, currency } = this.session.value!;
    const fault = this.fault.value || undefined;
    this.fault.value = '';
    return this.call(title, tenant, 'transaction', { ...transaction, playerRef, gameId, currency }, fault);
  }

  private call(
    title: string,
    tenant: Tenant,
    route: string,
    fields: Readonly<Record<string, unknown>>,
    fault?: string,
  ): Promise<Exchange> {
    const { sessionToken } = this.session.value!;
    const body = { sessionToken, ...fields };
    return this.play({ title, tenant, path: `/v1/wallet/${route}`, body, fault });
  }

  private async play(call: Call, title = call.title): Promise<Exchange> {
    this.busy.value = true;
    try {
      const exchange = await send({ ...call, title });
      this.lastCall = call;
      this.exchanges.value = [exchange, ...this.exchanges.value].slice(0, MAX_EXCHANGES);
      return exchange;
    } finally {
      this.busy.value = false;
    }
  }
}
