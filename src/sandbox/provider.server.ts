import {
  type BatchReference,
  type BatchStatus,
  CALLBACK_ROUTES,
  CallbackRefusal,
  createCallbackHandler,
  type Grant,
  MemoryNonceStore,
  PLAY_ROUTE,
  type Revocation,
} from '@croupier/provider-sdk';
import { join } from 'node:path';
import {
  type Call,
  type ChooseFault,
  type CounterpartOptions,
  CounterpartServer,
  MAX_NONCES,
} from './counterpart.server.js';
import type { Answer } from './faults/delivery.js';
import { type FaultName, PROVIDER_OPERATIONS } from './faults/faults.js';
import { Journal } from './journal.js';

/** The free spins of one grant. The platform's batch is something else: one request for many players. */
interface Batch {
  readonly externalRef: string;
  readonly grant: Grant;
  remainingSpins: number;
}

type ProviderEvent =
  | { readonly what: 'granted'; readonly externalRef: string; readonly grant: Grant }
  | { readonly what: 'played' | 'cancelled'; readonly externalRef: string }
  | { readonly what: 'revoked'; readonly sessionId: string };

/** Plays one spin of a batch, for a self-test with the provider's secret. The platform never calls it. */
export const PLAY_PATH = PLAY_ROUTE;

/** The sandbox provider. It keeps grants, remaining spins and revoked sessions. */
export class ProviderServer {
  private readonly nonces = new MemoryNonceStore(MAX_NONCES);
  private journal: Journal<ProviderEvent>;
  /** By externalRef. */
  private readonly batches = new Map<string, Batch>();
  private readonly batchesByRequestRef = new Map<string, Batch>();
  private readonly revokedSessions = new Set<string>();

  private constructor(private readonly options: CounterpartOptions) {}

  /** Loads its state from `provider.jsonl` and listens. */
  static async start(options: CounterpartOptions): Promise<CounterpartServer> {
    const provider = new ProviderServer(options);
    const file = join(options.folder, 'provider.jsonl');
    provider.journal = await Journal.open<ProviderEvent>(file, (event) => provider.apply(event));
    return CounterpartServer.start({
      ...options,
      journal: provider.journal,
      operations: PROVIDER_OPERATIONS,
      routes: [...Object.values(CALLBACK_ROUTES), PLAY_PATH],
      answer: (call, secret, chooseFault) => provider.answer(call, secret, chooseFault),
    });
  }

  /** Each call has its own handler, because a header of the call may name its fault. */
  private async answer(call: Call, secret: string, chooseFault: ChooseFault): Promise<Answer> {
    const { tenantId, log } = this.options;
    const unlessRefused =
      <Body extends object, Result>(
        operation: (typeof PROVIDER_OPERATIONS)[number],
        carryOut: (body: Body, fault: FaultName | undefined) => Result,
        hasEffect?: (fault: FaultName, body: Body) => boolean,
      ) =>
      (body: Body) => {
        const fault = chooseFault(operation, body, hasEffect && ((name) => hasEffect(name, body)));
        if (fault === 'refuse') throw new CallbackRefusal(503, 'the sandbox was asked to refuse');
        return carryOut(body, fault);
      };
    const handler = createCallbackHandler({
      tenantId,
      secret,
      nonceStore: this.nonces,
      onGrant: unlessRefused(
        'grant',
        (grant: Grant, fault) => this.grant(grant, fault),
        (fault, grant) => fault !== 'same-external-ref' || this.previousOf(grant) !== undefined,
      ),
      onStatus: unlessRefused('status', (reference: BatchReference) => remainder(this.find(reference))),
      onCancel: unlessRefused('cancel', (reference: BatchReference) => this.cancel(reference)),
      onRevoke: unlessRefused('revoke', (revocation: Revocation) => this.revoke(revocation)),
      onPlay: unlessRefused('play', (reference: BatchReference) => this.play(reference)),
      onError: (error) => log(`${tenantId}: ${call.path} failed: ${String(error)}`),
    });
    return handler(call);
  }

  private grant(grant: Grant, fault: FaultName | undefined): { externalRef: string } {
    const previous = fault === 'same-external-ref' ? this.previousOf(grant) : undefined;
    const known = previous ?? this.batchesByRequestRef.get(grant.requestRef);
    const externalRef = known?.externalRef ?? `spins-${this.batches.size + 1}`;
    if (!known) this.record({ what: 'granted', externalRef, grant });
    return { externalRef };
  }

  /** The latest batch of the same player that another request has granted. */
  private previousOf({ playerRef, requestRef }: Grant): Batch | undefined {
    return [...this.batches.values()].findLast(
      ({ grant }) => grant.playerRef === playerRef && grant.requestRef !== requestRef,
    );
  }

  private cancel(reference: BatchReference): void {
    const { externalRef, remainingSpins } = this.find(reference);
    if (remainingSpins > 0) this.record({ what: 'cancelled', externalRef });
  }

  private play(reference: BatchReference): BatchStatus {
    const batch = this.find(reference);
    const { externalRef, remainingSpins } = batch;
    if (remainingSpins === 0) throw new CallbackRefusal(409, `no spins are left in batch ${externalRef}`);
    this.record({ what: 'played', externalRef });
    return remainder(batch);
  }

  private revoke({ sessionId }: Revocation): void {
    if (!this.revokedSessions.has(sessionId)) this.record({ what: 'revoked', sessionId });
  }

  /** @throws CallbackRefusal 404 if there is no such batch of this player in this game */
  private find({ externalRef, playerRef, gameId }: BatchReference): Batch {
    const batch = this.batches.get(externalRef);
    if (batch?.grant.playerRef === playerRef && batch.grant.gameId === gameId) return batch;
    throw new CallbackRefusal(404, 'this player has no such batch in this game');
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

function remainder({ remainingSpins }: Batch): BatchStatus {
  return { remainingSpins, completed: remainingSpins === 0 };
}
