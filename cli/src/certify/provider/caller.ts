import { CALLBACK_ROUTES, type CallbackName } from '@croupier/provider-sdk';
import type { Reply } from '../../reply.js';
import { type Deviation, type Endpoint, SignedCalls } from '../signed-calls.js';

export interface ProviderUnderTest extends Endpoint {
  playerRef: string;
  gameId: string;
  currency: string;
  /** Minor units. */
  betAmountMinor: number;
  /** The route below the base address that plays one spin of a batch, if there is one. */
  playPath: string | undefined;
}

/** Calls a provider as the platform does, or with a deviation. */
export class ProviderCaller {
  readonly calls: SignedCalls;

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
}
