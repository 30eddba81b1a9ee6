import { join } from 'node:path';
import { type FaultName, PROVIDER_OPERATIONS } from './faults/faults.js';
import { type Fields, isCurrency, isText, isWhole } from './fields.js';
import { Journal } from './journal.js';
import { type Answer, badRequest, type CounterpartOptions, SignedServer } from './signed.server.js';

/** A grant of free spins, as the platform sent it. Contract, section 6. */
interface Grant {
  readonly requestRef: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly spins: number;
  /** Minor units; 0 means this provider's default stake. */
  readonly betAmountMinor: number;
  readonly currency: string;
}

/** The free spins of one grant. The platform's batch is something else: one request for many players. */
interface Batch {
  readonly externalRef: string;
  readonly grant: Grant;
  remainingSpins: number;
}

/** The remaining spins of a batch. */
export interface Remainder {
  readonly remainingSpins: number;
  readonly completed: boolean;
}

type ProviderEvent =
  | { readonly what: 'granted'; readonly externalRef: string; readonly grant: Grant }
  | { readonly what: 'played' | 'cancelled'; readonly externalRef: string }
  | { readonly what: 'revoked'; readonly sessionId: string };

/**
 * The route that plays one spin of a batch, for a caller with the provider's secret, such as a self-test. The platform
 * never calls it.
 */
export const PLAY_PATH = '/sandbox/free-spins/play';

/** The sandbox provider as an HTTP server. It keeps grants, remaining spins and revoked sessions. */
export class ProviderServer {
  private server: SignedServer;
  private journal: Journal<ProviderEvent>;
  /** By externalRef. */
  private readonly batches = new Map<string, Batch>();
  private readonly batchesByRequestRef = new Map<string, Batch>();
  private readonly revokedSessions = new Set<string>();

  private constructor() {}

  /** Loads its state from `provider.jsonl` and listens. Until `trust` is called, every signed call gets a 401. */
  static async start(options: CounterpartOptions): Promise<ProviderServer> {
    const provider = new ProviderServer();
    const file = join(options.folder, 'provider.jsonl');
    provider.journal = await Journal.open<ProviderEvent>(file, (event) => provider.apply(event));
    provider.server = await SignedServer.start({
      ...options,
      journal: provider.journal,
      basePath: '',
      operations: PROVIDER_OPERATIONS,
      routes: {
        '/v1/game/free-spins/grant': {
          operation: () => 'grant',
          answer: (body, fault) => provider.grant(body, fault),
        },
        '/v1/game/free-spins/status': { operation: () => 'status', answer: (body) => provider.status(body) },
        '/v1/game/free-spins/cancel': { operation: () => 'cancel', answer: (body) => provider.cancel(body) },
        '/v1/game/session/revoke': { operation: () => 'revoke', answer: (body) => provider.revoke(body) },
        [PLAY_PATH]: { operation: () => 'play', answer: (body) => provider.play(body) },
      },
    });
    return provider;
  }

  get baseUrl(): string {
    return this.server.baseUrl;
  }

  trust(secret: string): void {
    this.server.trust(secret);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /**
   * Plays one spin of a batch, as a game would, and returns the remaining spins.
   * @throws Error if the batch is unknown or has no spins left
   */
  async playSpin(externalRef: string): Promise<Remainder> {
    const left = this.takeSpin(externalRef);
    if (typeof left === 'string') throw new Error(left);
    await this.journal.flush();
    return left;
  }

  /** Whether the platform has revoked this session. */
  isRevoked(sessionId: string): boolean {
    return this.revokedSessions.has(sessionId);
  }

  private grant(body: Fields, fault: FaultName | undefined): Answer {
    const grant = readGrant(body);
    if (typeof grant === 'string') return badRequest(grant);
    const previous = fault === 'same-external-ref' ? this.latestOf(grant.playerRef) : undefined;
    const known = previous ?? this.batchesByRequestRef.get(grant.requestRef);
    const externalRef = known?.externalRef ?? `spins-${this.batches.size + 1}`;
    if (!known) this.record({ what: 'granted', externalRef, grant });
    return { status: 200, body: fault === 'no-external-ref' ? {} : { externalRef } };
  }

  private latestOf(playerRef: string): Batch | undefined {
    return [...this.batches.values()].findLast(({ grant }) => grant.playerRef === playerRef);
  }

  private status(body: Fields): Answer {
    const batch = this.batchIn(body);
    return batch ? { status: 200, body: remainder(batch) } : UNKNOWN_BATCH;
  }

  private cancel(body: Fields): Answer {
    const batch = this.batchIn(body);
    if (!batch) return UNKNOWN_BATCH;
    const { externalRef, remainingSpins } = batch;
    if (remainingSpins > 0) this.record({ what: 'cancelled', externalRef });
    return { status: 200, body: {} };
  }

  private play(body: Fields): Answer {
    const batch = this.batchIn(body);
    if (!batch) return UNKNOWN_BATCH;
    const left = this.takeSpin(batch.externalRef);
    return typeof left === 'string' ? { status: 409, body: { error: left } } : { status: 200, body: left };
  }

  /** Plays one spin of a batch. Returns the remaining spins, or a sentence that says why none can be played. */
  private takeSpin(externalRef: string): Remainder | string {
    const batch = this.batches.get(externalRef);
    if (!batch) return `there is no batch ${externalRef}`;
    if (batch.remainingSpins === 0) return `no spins are left in batch ${externalRef}`;
    this.record({ what: 'played', externalRef });
    return remainder(batch);
  }

  private revoke({ sessionId }: Fields): Answer {
    if (!isText(sessionId)) return badRequest('sessionId must be a string');
    if (!this.isRevoked(sessionId)) this.record({ what: 'revoked', sessionId });
    return { status: 200, body: {} };
  }

  /** The named batch, if it belongs to this player and game. */
  private batchIn({ externalRef, playerRef, gameId }: Fields): Batch | undefined {
    const batch = isText(externalRef) ? this.batches.get(externalRef) : undefined;
    if (batch?.grant.playerRef !== playerRef || batch?.grant.gameId !== gameId) return undefined;
    return batch;
  }

  private record(event: ProviderEvent): void {
    this.journal.append(event);
    this.apply(event);
  }

  private apply(event: ProviderEvent): void {
    if (event.what === 'revoked') {
      this.revokedSessions.add(event.sessionId);
      return;
    }
    if (event.what === 'granted') {
      const { externalRef, grant } = event;
      const batch = { externalRef, grant, remainingSpins: grant.spins };
      this.batches.set(externalRef, batch);
      this.batchesByRequestRef.set(grant.requestRef, batch);
      return;
    }
    const batch = this.batches.get(event.externalRef);
    if (batch) batch.remainingSpins = event.what === 'cancelled' ? 0 : batch.remainingSpins - 1;
  }
}

const UNKNOWN_BATCH: Answer = { status: 404, body: { error: 'this player has no such batch in this game' } };

function remainder({ remainingSpins }: Batch): Remainder {
  return { remainingSpins, completed: remainingSpins === 0 };
}

/** The grant in a request's body, or a sentence that says why it is invalid. */
function readGrant(body: Fields): Grant | string {
  const { requestRef, playerRef, gameId, spins, betAmountMinor, currency } = body;
  if (!isText(requestRef) || !isText(playerRef) || !isText(gameId)) {
    return 'requestRef, playerRef and gameId must be strings';
  }
  if (!isWhole(spins, 1)) return 'spins must be a whole number from 1';
  if (!isWhole(betAmountMinor, 0)) return 'betAmountMinor must be a whole number from 0';
  if (!isCurrency(currency)) return 'currency must be three upper-case letters';
  return { requestRef, playerRef, gameId, spins, betAmountMinor, currency };
}
