import { type Behaviour, Counterpart, type Match, type ReceivedCall } from './counterpart.js';
import type { Reply } from './endings.js';

export const GRANT = '/v1/game/free-spins/grant';
export const STATUS = '/v1/game/free-spins/status';
export const CANCEL = '/v1/game/free-spins/cancel';
export const REVOKE = '/v1/game/session/revoke';

export interface CallbackMatch extends Match {
  readonly path?: typeof GRANT | typeof STATUS | typeof CANCEL | typeof REVOKE;
  readonly requestRef?: string;
  readonly externalRef?: string;
  readonly playerRef?: string;
  readonly sessionId?: string;
}

type CallbackBehaviour = Exclude<Behaviour, { do: 'decline' }>;

/** A batch as the provider keeps it. */
export interface Batch {
  readonly requestRef: string;
  remainingSpins: number;
}

/** A provider's callback routes (contract, section 6), which record every call and misbehave if a test sets that. */
export class ProviderCounterpart extends Counterpart<CallbackBehaviour, CallbackMatch> {
  /** By externalRef. */
  readonly batches = new Map<string, Batch>();

  /** @param unixSeconds the time against which timestamps are judged; default: the wall clock */
  static start(unixSeconds?: () => number): Promise<ProviderCounterpart> {
    return new ProviderCounterpart('/callbacks', unixSeconds).listen();
  }

  /** The calls of one route. */
  calls(path: string): ReceivedCall[] {
    return this.received.filter((call) => call.path === path);
  }

  protected override carryOut({ method, path, json }: ReceivedCall): Reply {
    if (method !== 'POST') return NOT_FOUND;
    if (path === GRANT) return this.grant(String(json['requestRef']), Number(json['spins']));
    if (path === REVOKE) return { status: 200 };
    const batch = this.batches.get(String(json['externalRef']));
    if (!batch) return NOT_FOUND;
    if (path === CANCEL) batch.remainingSpins = 0;
    if (path === CANCEL) return { status: 200 };
    if (path !== STATUS) return NOT_FOUND;
    const { remainingSpins } = batch;
    return { status: 200, body: { remainingSpins, completed: remainingSpins === 0 } };
  }

  private grant(requestRef: string, spins: number): Reply {
    const externalRef = `batch-of-${requestRef}`;
    if (!this.batches.has(externalRef)) this.batches.set(externalRef, { requestRef, remainingSpins: spins });
    return { status: 200, body: { externalRef } };
  }
}

const NOT_FOUND: Reply = { status: 404, body: { error: 'not found' } };
