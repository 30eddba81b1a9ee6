import { setTimeout as delay } from 'node:timers/promises';
import { type AnswerFault, BrokenAnswers } from './broken-answers.js';
import { bad, type Body, BrokenServer, ok, parsed, type Reply, type ServerFault } from './broken-server.js';
import { SlowLookup } from './broken-signature.js';

/** Mistakes of an operator's wallet. Without any it is correct. */
export type WalletFault =
  | ServerFault
  | AnswerFault
  | 'answers the balance as a text'
  | 'takes a fee for a balance'
  | 'answers one balance at a time'
  | 'refuses unknown fields'
  | 'opens an account for everybody'
  | 'answers 404 for an unknown player'
  | 'fails at a body that is not JSON'
  | 'answers the balance from before'
  | 'takes no BET of 0'
  | 'keeps one unit'
  | 'answers a lack of funds with 402'
  | 'gives credit'
  | 'fails beyond 32 bits'
  | 'wraps at 32 bits'
  | 'wraps at 32 bits without a sign'
  | 'takes negative amounts'
  | 'rounds fractions'
  | 'takes any kind for a BET'
  | 'takes the money of its first player'
  | 'declines a WIN without a BET'
  | 'takes no WIN of 0'
  | 'pays once in a round'
  | 'pays nothing after a round was closed'
  | 'books no WIN'
  | 'rolls back nothing'
  | 'rolls back the amount that is sent'
  | 'rolls back again each time'
  | 'rolls back for each id'
  | 'rolls back the whole round'
  | 'declines the ROLLBACK of a DECLINED BET'
  | 'declines a ROLLBACK of nothing'
  | 'answers 404 to a ROLLBACK of nothing'
  | 'answers 409 to a repeated ROLLBACK of nothing'
  | 'leaves no tombstone'
  | 'leaves a tombstone for one BET'
  | 'books a BET again after its ROLLBACK'
  | 'looks for a BET under every provider'
  | 'rolls back only the latest BET'
  | 'knows no ADJUSTMENT'
  | 'adjusts only upwards'
  | 'books an ADJUSTMENT each time'
  | 'keys only by transactionId'
  | 'fails at a negative balance'
  | 'bets at a negative balance'
  | 'books a BET each time'
  | 'remembers the latest five'
  | 'checks the funds of a repeated BET'
  | 'decides a declined BET again'
  | 'books a WIN each time'
  | 'knows a transaction by its amount too'
  | 'knows a transaction by its player too'
  | 'knows a transaction by its kind too'
  | 'makes up a reference each time'
  | 'compares ids without case'
  | 'cuts ids at 64 characters'
  | 'accepts only letters, digits and hyphens'
  | 'looks up a BET before it writes it down'
  | 'declines a BET that is being booked'
  | 'reads the balance before it writes it'
  | 'checks the funds before it books'
  | 'looks up a ROLLBACK before it writes it down'
  | 'looks up a target before it writes it down'
  | 'books a BET while its ROLLBACK passes'
  | 'identifies a round only by its id';

interface Entry {
  key: string;
  kind: string;
  playerRef: string;
  roundId: string;
  amountMinor: number;
  status: 'APPROVED' | 'DECLINED';
  /** In minor units, signed. */
  movedMinor: number;
  reference: string;
  reversed: boolean;
}

const KNOWN = [
  'transactionId',
  'providerId',
  'kind',
  'playerRef',
  'gameId',
  'currency',
  'amountMinor',
].concat('roundId', 'roundClosed', 'originalTransactionId', 'freeSpinsRef');
const KINDS = ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'];
const START_MINOR = 5_000;

/** An operator's wallet over real HTTP, with faults. */
export class BrokenWallet {
  readonly tenantId = 'bigwin';
  readonly secret = BrokenServer.secret;
  private server: BrokenServer | undefined;
  private readonly accounts = new Map([
    ['player-1', START_MINOR],
    ['player-2', START_MINOR],
  ]);
  private readonly entries = new Map<string, Entry>();
  private readonly tombstones = new Set<string>();
  private readonly closedRounds = new Set<string>();
  private readonly paidRounds = new Set<string>();
  private readonly playersByRound = new Map<string, string>();
  private readonly inProgress = new Set<string>();
  private readonly lookup = new SlowLookup();
  private readonly answers: BrokenAnswers;
  private references = 0;
  private latest = '';
  private asked = false;

  private constructor(private readonly faults: readonly WalletFault[]) {
    this.answers = new BrokenAnswers(faults);
  }

  static async start(...faults: WalletFault[]): Promise<BrokenWallet> {
    const wallet = new BrokenWallet(faults);
    const { tenantId } = wallet;
    const paths = ['/transaction', '/balance'];
    wallet.server = await BrokenServer.start(faults, { tenantId, paths }, (path, raw) =>
      wallet.act(path, raw),
    );
    return wallet;
  }

  get url(): string {
    return this.server?.url ?? '';
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }

  private is(fault: WalletFault): boolean {
    return this.faults.includes(fault);
  }

  private async act(path: string, raw: string): Promise<Reply> {
    const body = parsed(raw);
    if (!body)
      return this.is('fails at a body that is not JSON') ? { status: 500, body: '' } : bad('no JSON');
    const unknown = Object.keys(body).find((field) => !KNOWN.includes(field));
    if (unknown && this.is('refuses unknown fields')) return bad(`what is ${unknown}?`);
    const reply =
      path === '/balance' ? await this.balance(String(body['playerRef'])) : await this.transaction(body);
    return this.answers.complete(body, reply);
  }

  private async balance(playerRef: string): Promise<Reply> {
    if (this.is('answers one balance at a time')) {
      if (this.asked) return { status: 503, body: '' };
      this.asked = true;
      await delay(5);
      this.asked = false;
    }
    const balance = this.accounts.get(playerRef);
    if (balance === undefined)
      return this.is('opens an account for everybody')
        ? ok({ balance: START_MINOR })
        : { status: 404, body: '' };
    if (balance < 0 && this.is('fails at a negative balance')) return { status: 500, body: '' };
    if (this.is('takes a fee for a balance')) this.accounts.set(playerRef, balance - 1);
    return ok({ balance: this.is('answers the balance as a text') ? String(balance) : balance });
  }

  private async transaction(body: Body): Promise<Reply> {
    const { kind, amountMinor, transactionId } = body;
    const known = KINDS.includes(String(kind)) || this.is('takes any kind for a BET');
    if (!known || (kind === 'ADJUSTMENT' && this.is('knows no ADJUSTMENT'))) return bad('kind');
    if (!Number.isInteger(amountMinor) && !this.is('rounds fractions')) return bad('amountMinor');
    const amount = Math.floor(Number(amountMinor));
    if (amount < 0 && kind !== 'ADJUSTMENT' && !this.is('takes negative amounts')) return bad('amountMinor');
    if (amount === 0 && kind === 'BET' && this.is('takes no BET of 0')) return bad('amountMinor');
    if (amount === 0 && kind === 'WIN' && this.is('takes no WIN of 0')) return bad('amountMinor');
    if (amount > 2 ** 31 && this.is('fails beyond 32 bits')) return { status: 500, body: '' };
    if (/[^\w-]/.test(String(transactionId)) && this.is('accepts only letters, digits and hyphens'))
      return bad('transactionId');
    const playerRef =
      kind === 'BET' && this.is('takes the money of its first player')
        ? 'player-1'
        : String(body['playerRef']);
    if (!this.accounts.has(playerRef)) {
      if (this.is('answers 404 for an unknown player')) return { status: 404, body: '' };
      if (!this.is('opens an account for everybody')) return ok({ status: 'DECLINED', balance: 0 });
      this.accounts.set(playerRef, START_MINOR);
    }
    const amountOfKind = this.storedAmount(amount);
    const key = this.keyOf(body, amountOfKind);
    return this.book({
      key,
      kind: String(kind),
      playerRef,
      roundId: `${this.is('identifies a round only by its id') ? '' : playerRef} ${String(body['roundId'])}`,
      amountMinor: amountOfKind,
      body,
    });
  }

  private storedAmount(amount: number): number {
    if (this.is('wraps at 32 bits')) return amount | 0;
    // Keeps the sign of an ADJUSTMENT.
    if (this.is('wraps at 32 bits without a sign')) return amount % 2 ** 32;
    return amount;
  }

  private keyOf(
    { providerId, transactionId, kind, playerRef }: Body,
    amountMinor: number | undefined,
    id = String(transactionId),
  ): string {
    if (this.is('compares ids without case')) id = id.toLowerCase();
    if (this.is('cuts ids at 64 characters')) id = id.slice(0, 64);
    const parts = [this.is('keys only by transactionId') ? '' : providerId, id];
    // If a wallet compares more than the id, a repeated transaction becomes another one.
    if (amountMinor !== undefined && kind !== 'ROLLBACK') {
      if (this.is('knows a transaction by its amount too')) parts.push(amountMinor);
      if (this.is('knows a transaction by its player too')) parts.push(playerRef);
      if (this.is('knows a transaction by its kind too')) parts.push(kind);
    }
    return parts.join(' ');
  }

  private async book(
    order: Pick<Entry, 'key' | 'kind' | 'playerRef' | 'roundId' | 'amountMinor'> & { body: Body },
  ): Promise<Reply> {
    const { key, kind, playerRef } = order;
    const before = this.accounts.get(playerRef) ?? 0;
    const known = this.entries.get(key);
    if (kind === 'BET' && this.is('declines a BET that is being booked')) {
      if (this.inProgress.has(key)) return ok({ status: 'DECLINED', balance: before });
      this.inProgress.add(key);
      if (!known) await delay(10);
      this.inProgress.delete(key);
    }
    if (kind === 'BET' && this.is('looks up a BET before it writes it down')) await this.lookup.slowly(key);
    if (kind === 'ROLLBACK' && this.is('looks up a ROLLBACK before it writes it down'))
      await this.lookup.slowly(key);
    if (known && !this.repeats(known)) {
      if (this.is('checks the funds of a repeated BET') && known.amountMinor > before && kind === 'BET')
        return ok({ status: 'DECLINED', balance: before });
      return this.answer(known, before);
    }
    const decision = kind === 'ROLLBACK' ? await this.rollback(order) : await this.decide(order);
    if (!('movedMinor' in decision)) return decision;
    const entry = { ...order, ...decision, reference: this.reference(), reversed: false };
    await this.move(playerRef, entry.movedMinor);
    this.entries.set(key, entry);
    if (kind === 'BET') this.latest = key;
    if (this.is('remembers the latest five') && this.entries.size > 5)
      this.entries.delete([...this.entries.keys()][0] ?? '');
    return this.answer(entry, before);
  }

  /** Whether a known transaction is booked once more. */
  private repeats({ kind, status, reversed }: Entry): boolean {
    if (kind === 'BET' && this.is('books a BET each time')) return true;
    if (kind === 'BET' && reversed && this.is('books a BET again after its ROLLBACK')) return true;
    if (kind === 'BET' && status === 'DECLINED' && this.is('decides a declined BET again')) return true;
    if (kind === 'WIN' && this.is('books a WIN each time')) return true;
    if (kind === 'ADJUSTMENT' && this.is('books an ADJUSTMENT each time')) return true;
    if (kind !== 'ROLLBACK') return false;
    if (this.is('answers 409 to a repeated ROLLBACK of nothing')) return true;
    return this.is('rolls back again each time');
  }

  private async decide({
    key,
    kind,
    playerRef,
    roundId,
    amountMinor,
    body,
  }: {
    key: string;
    kind: string;
    playerRef: string;
    roundId: string;
    amountMinor: number;
    body: Body;
  }): Promise<Pick<Entry, 'status' | 'movedMinor'> | Reply> {
    const declined = { status: 'DECLINED', movedMinor: 0 } as const;
    const approved = (movedMinor: number) => ({ status: 'APPROVED', movedMinor }) as const;
    const before = this.accounts.get(playerRef) ?? 0;
    if (kind === 'ADJUSTMENT') {
      return amountMinor < 0 && this.is('adjusts only upwards') ? declined : approved(amountMinor);
    }
    if (kind === 'WIN') {
      const hasBet = [...this.entries.values()].some(
        (entry) => entry.kind === 'BET' && entry.roundId === roundId,
      );
      if (!hasBet && this.is('declines a WIN without a BET')) return declined;
      if (this.paidRounds.has(roundId) && this.is('pays once in a round')) return declined;
      if (this.closedRounds.has(roundId) && this.is('pays nothing after a round was closed')) return declined;
      this.paidRounds.add(roundId);
      if (body['roundClosed'] === true) this.closedRounds.add(roundId);
      return approved(this.is('books no WIN') ? 0 : amountMinor);
    }
    const isTombstone = this.tombstones.has(key);
    if (this.is('leaves a tombstone for one BET')) this.tombstones.delete(key);
    if (isTombstone && !this.is('leaves no tombstone')) {
      // An unrecorded BET is decided again each time.
      return this.is('leaves a tombstone for one BET') ? ok({ ...declined, balance: before }) : declined;
    }
    const owner = this.playersByRound.get(roundId) ?? playerRef;
    this.playersByRound.set(roundId, owner);
    if (owner !== playerRef) return declined;
    const least = this.is('keeps one unit') ? 1 : 0;
    const hasFunds = before - amountMinor >= least || (before < 0 && this.is('bets at a negative balance'));
    if (!hasFunds && !this.is('gives credit')) {
      return this.is('answers a lack of funds with 402') ? { status: 402, body: '' } : declined;
    }
    if (this.is('checks the funds before it books')) await this.lookup.slowly(playerRef);
    if (this.is('books a BET while its ROLLBACK passes')) await this.lookup.slowly(key);
    return approved(-amountMinor);
  }

  private async rollback({
    key,
    playerRef,
    roundId,
    amountMinor,
    body,
  }: {
    key: string;
    playerRef: string;
    roundId: string;
    amountMinor: number;
    body: Body;
  }): Promise<Pick<Entry, 'status' | 'movedMinor'> | Reply> {
    const id = String(body['originalTransactionId']);
    const targetKey = this.keyOf(body, undefined, id);
    const targets = [...this.entries.values()].filter(({ kind }) => kind === 'BET');
    const target = targets.find((entry) =>
      this.is('looks for a BET under every provider')
        ? entry.key.endsWith(` ${id}`)
        : entry.key === targetKey || entry.key.startsWith(`${targetKey} `),
    );
    const moved = (movedMinor: number) => ({ status: 'APPROVED', movedMinor }) as const;
    if (!target) {
      const isRepeated = this.entries.has(key);
      if (isRepeated && this.is('answers 409 to a repeated ROLLBACK of nothing'))
        return { status: 409, body: '' };
      if (this.is('declines a ROLLBACK of nothing')) return { status: 'DECLINED', movedMinor: 0 };
      if (this.is('answers 404 to a ROLLBACK of nothing')) return { status: 404, body: '' };
      this.tombstones.add(targetKey);
      return moved(0);
    }
    const { reversed, status } = target;
    // By default a reversal is recognised by its target; with these faults, by the ROLLBACK's id or not at all.
    const byId = this.is('rolls back for each id') || this.is('looks up a ROLLBACK before it writes it down');
    const isAnew = this.is('rolls back again each time') && this.entries.has(key);
    const wasReversed = reversed && !byId && !isAnew;
    if (status === 'DECLINED' && this.is('declines the ROLLBACK of a DECLINED BET'))
      return { status: 'DECLINED', movedMinor: 0 };
    if (target.key !== this.latest && this.is('rolls back only the latest BET') && !reversed)
      return { status: 'DECLINED', movedMinor: 0 };
    if (this.is('looks up a target before it writes it down')) await this.lookup.slowly(target.key);
    target.reversed = true;
    if (wasReversed || this.is('rolls back nothing')) return moved(0);
    if (this.is('rolls back the amount that is sent') && status === 'APPROVED') return moved(amountMinor);
    if (this.is('rolls back the whole round')) {
      const ofRound = targets.filter((entry) => entry.roundId === roundId && entry.playerRef === playerRef);
      return moved(ofRound.reduce((sum, entry) => sum - entry.movedMinor, 0));
    }
    return moved(-target.movedMinor);
  }

  private async move(playerRef: string, byMinor: number): Promise<void> {
    const before = this.accounts.get(playerRef) ?? 0;
    if (this.is('reads the balance before it writes it')) await this.lookup.slowly(playerRef);
    const now = this.is('reads the balance before it writes it')
      ? before
      : (this.accounts.get(playerRef) ?? 0);
    this.accounts.set(playerRef, now + byMinor);
  }

  private reference(): string {
    this.references += 1;
    return `booking-${this.references}`;
  }

  private answer({ status, playerRef, reference }: Entry, before: number): Reply {
    const balance = this.is('answers the balance from before') ? before : (this.accounts.get(playerRef) ?? 0);
    const operatorTransactionId = this.is('makes up a reference each time') ? this.reference() : reference;
    return ok({ status, balance, operatorTransactionId });
  }
}
