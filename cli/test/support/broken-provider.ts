import { CALLBACK_ROUTES } from '@croupier/provider-sdk';
import { bad, type Body, BrokenServer, ok, parsed, type Reply, type ServerFault } from './broken-server.js';
import { SlowLookup } from './broken-signature.js';

/** Mistakes of a provider's server. Without any it is correct. */
export type Fault =
  | ServerFault
  | 'refuses unknown fields'
  | 'grants again each time'
  | 'looks up a grant before it writes it down'
  | 'adds the spins of a repeated grant'
  | 'fills up at a repeated grant'
  | 'numbers all batches alike'
  | 'knows no default stake'
  | 'grants a hundred spins at most'
  | 'grants without a requestRef'
  | 'fails at a body that is not JSON'
  | 'answers a grant with 201'
  | 'answers a number for externalRef'
  | 'answers an externalRef with a line break'
  | 'answers a status without completed'
  | 'never completes'
  | 'takes a status for a spin'
  | 'makes up a status'
  | 'answers a cancel with 204'
  | 'cancels once'
  | 'cancels nothing'
  | 'cancels all of a player'
  | 'plays on after a cancel'
  | 'revokes once'
  | 'knows only kicks'
  | 'ignores the player of a batch'
  | 'ignores the game of a batch';

interface Batch {
  externalRef: string;
  playerRef: string;
  gameId: string;
  remainingSpins: number;
  spins: number;
  cancelled: boolean;
}

const KNOWN = [
  'requestRef',
  'playerRef',
  'gameId',
  'spins',
  'betAmountMinor',
  'currency',
  'externalRef',
].concat('revocationRef', 'sessionId', 'reason', 'revokedAt');
export const PLAY_PATH = '/test/play';
const PATHS = [...Object.values(CALLBACK_ROUTES), PLAY_PATH];
const NOT_FOUND: Reply = { status: 404, body: { error: 'no such batch' } };
/** A provider over real HTTP, without the SDK, with faults. */
export class BrokenProvider {
  readonly tenantId = 'spinwell';
  readonly secret = BrokenServer.secret;
  private server: BrokenServer | undefined;
  private readonly batches = new Map<string, Batch>();
  private readonly byRequestRef = new Map<string, Batch>();
  private readonly revoked = new Set<string>();
  private readonly lookup = new SlowLookup();

  private constructor(private readonly faults: readonly Fault[]) {}

  static async start(...faults: Fault[]): Promise<BrokenProvider> {
    const provider = new BrokenProvider(faults);
    const { tenantId } = provider;
    provider.server = await BrokenServer.start(faults, { tenantId, paths: PATHS }, (path, raw) =>
      provider.act(path, raw),
    );
    return provider;
  }

  get url(): string {
    return this.server?.url ?? '';
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }

  private is(fault: Fault): boolean {
    return this.faults.includes(fault);
  }

  private async act(path: string, raw: string): Promise<Reply> {
    const body = parsed(raw);
    if (!body)
      return this.is('fails at a body that is not JSON') ? { status: 500, body: '' } : bad('no JSON');
    const unknown = Object.keys(body).find((field) => !KNOWN.includes(field));
    if (unknown && this.is('refuses unknown fields')) return bad(`what is ${unknown}?`);
    switch (path) {
      case CALLBACK_ROUTES.grant:
        return this.grant(body);
      case CALLBACK_ROUTES.status:
        return this.status(this.batchIn(body));
      case CALLBACK_ROUTES.cancel:
        return this.cancel(this.batchIn(body));
      case CALLBACK_ROUTES.revoke:
        return this.revoke(String(body['sessionId']), String(body['reason']));
      default:
        return this.play(this.batchIn(body));
    }
  }

  private async grant({ requestRef, playerRef, gameId, spins, betAmountMinor }: Body): Promise<Reply> {
    if (typeof requestRef !== 'string' && !this.is('grants without a requestRef'))
      return bad('no requestRef');
    if (betAmountMinor === 0 && this.is('knows no default stake')) return bad('no stake');
    if (Number(spins) > 100 && this.is('grants a hundred spins at most')) return bad('too many');
    const key = String(requestRef);
    const known = this.is('grants again each time') ? undefined : this.byRequestRef.get(key);
    if (this.is('looks up a grant before it writes it down')) await this.lookup.slowly(key);
    if (known) {
      if (this.is('adds the spins of a repeated grant')) known.remainingSpins += known.spins;
      if (this.is('fills up at a repeated grant')) known.remainingSpins = known.spins;
      return this.granted(known);
    }
    const externalRef = `batch-${this.is('numbers all batches alike') ? 1 : this.batches.size + 1}`;
    const size = Number(spins);
    const batch = {
      externalRef,
      playerRef: String(playerRef),
      gameId: String(gameId),
      remainingSpins: size,
      spins: size,
      cancelled: false,
    };
    this.batches.set(externalRef, batch);
    this.byRequestRef.set(key, batch);
    return this.granted(batch);
  }

  private granted({ externalRef }: Batch): Reply {
    const status = this.is('answers a grant with 201') ? 201 : 200;
    if (this.is('answers a number for externalRef')) return { status, body: { externalRef: 7 } };
    const end = this.is('answers an externalRef with a line break') ? '\n' : '';
    return { status, body: { externalRef: externalRef + end } };
  }

  private status(batch: Batch | undefined): Reply {
    if (!batch) {
      return this.is('makes up a status') ? ok({ remainingSpins: 0, completed: true }) : NOT_FOUND;
    }
    if (this.is('takes a status for a spin')) batch.remainingSpins -= 1;
    const { remainingSpins } = batch;
    const completed = remainingSpins === 0 && !this.is('never completes');
    return ok({ remainingSpins, ...(!this.is('answers a status without completed') && { completed }) });
  }

  private cancel(batch: Batch | undefined): Reply {
    if (!batch) return NOT_FOUND;
    if (batch.cancelled && this.is('cancels once')) return NOT_FOUND;
    const others = [...this.batches.values()].filter(({ playerRef }) => playerRef === batch.playerRef);
    for (const each of this.is('cancels all of a player') ? others : [batch]) {
      each.cancelled = true;
      if (!this.is('cancels nothing')) each.remainingSpins = 0;
    }
    return this.is('answers a cancel with 204') ? { status: 204, body: '' } : ok({});
  }

  private revoke(sessionId: string, reason: string): Reply {
    if (reason !== 'KICK' && this.is('knows only kicks')) return bad('what reason is that?');
    if (this.revoked.has(sessionId) && this.is('revokes once')) return { status: 409, body: '' };
    this.revoked.add(sessionId);
    return ok({});
  }

  private play(batch: Batch | undefined): Reply {
    if (!batch) return NOT_FOUND;
    if (batch.cancelled && this.is('plays on after a cancel')) return ok({});
    if (batch.remainingSpins === 0) return { status: 409, body: '' };
    batch.remainingSpins -= 1;
    return ok({});
  }

  private batchIn({ externalRef, playerRef, gameId }: Body): Batch | undefined {
    const batch = this.batches.get(String(externalRef));
    const isHis = batch?.playerRef === playerRef || this.is('ignores the player of a batch');
    const isIts = batch?.gameId === gameId || this.is('ignores the game of a batch');
    return isHis && isIts ? batch : undefined;
  }
}
