import { CALLBACK_ROUTES, type CallbackName } from '@croupier/provider-sdk';
import { setTimeout as delay } from 'node:timers/promises';
import type { Reply } from '../../reply.js';
import { type Deviation, type Endpoint, SignedCalls, type UsedNonce } from '../signed-calls.js';

export interface ProviderUnderTest extends Endpoint {
  playerRef: string;
  gameId: string;
  currency: string;
  /** Minor units. */
  betAmountMinor: number;
  /** The route below the base address that plays one spin of a batch, if there is one. */
  playPath: string | undefined;
  /** How many calls measure the latency. */
  latencyCalls: number;
  /** The least time between a call at the beginning of the run and its repetition at the end, in milliseconds. */
  patienceMs: number;
}

/** Free spins for one player that the provider granted. The provider books them as one batch. */
export interface Batch {
  externalRef: string;
  playerRef: string;
  gameId: string;
}

export interface GrantBody {
  requestRef: string;
  playerRef: string;
  gameId: string;
  spins: number;
  betAmountMinor: number;
  currency: string;
}

/** Calls at the beginning of a run, which are repeated at its end. */
export interface FirstCalls {
  batch: Batch & GrantBody & { used: UsedNonce };
  cancelledBatch: Batch & GrantBody;
  revocation: Record<string, unknown>;
}

/** Calls a provider as the platform does, or with a deviation. */
export class ProviderCaller {
  readonly calls: SignedCalls;
  private readonly firsts: { [Name in keyof FirstCalls]?: { made: FirstCalls[Name]; atMs: number } } = {};

  /** @param nowMs Unix time in milliseconds */
  constructor(
    readonly provider: ProviderUnderTest,
    nowMs: () => number,
  ) {
    this.calls = new SignedCalls(provider, nowMs);
  }

  get answered(): number {
    return this.calls.answered;
  }

  /**
   * Makes one call and resolves with its reply, whatever its status.
   * @param body an object is sent as JSON, a text as it is
   * @throws Unmet if there is no answer in time
   */
  call(name: CallbackName, body: object | string, deviation?: Deviation): Promise<Reply> {
    return this.calls.post(CALLBACK_ROUTES[name], body, deviation);
  }

  /**
   * Plays one spin.
   * @throws Unmet if there is no answer in time
   */
  play(batch: object): Promise<Reply> {
    return this.calls.post(this.provider.playPath ?? '', batch);
  }

  /** The result of a first call, which is made now unless an earlier case has made it. */
  async first<Name extends keyof FirstCalls>(
    name: Name,
    make: () => Promise<FirstCalls[Name]>,
  ): Promise<FirstCalls[Name]> {
    const known = this.firsts[name];
    if (known) return known.made;
    const made = await make();
    Object.assign(this.firsts, { [name]: { made, atMs: this.calls.nowMs() } });
    return made;
  }

  /** Waits until the first call is `patienceMs` old. */
  async untilOld(name: keyof FirstCalls): Promise<void> {
    const ageMs = this.calls.nowMs() - (this.firsts[name]?.atMs ?? 0);
    if (ageMs < this.provider.patienceMs) await delay(this.provider.patienceMs - ageMs);
  }
}
