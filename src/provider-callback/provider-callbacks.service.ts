import { Injectable, Logger } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import type { CallResult } from '../health-scores/calls-of-period.js';
import { HealthScores } from '../health-scores/health-scores.service.js';
import { parseJsonObject } from '../api/validation/json.js';
import { Metrics } from '../observability/metrics.js';
import { currentRequestId, measureCall } from '../observability/trace.js';
import { type CallbackAnswer, CallbackHttp } from '../outbound/callback-http.js';
import { monotonicMs } from '../runtime/clock.js';
import { storable } from '../runtime/storable.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import type { Provider } from '../tenancy/tenant.js';
import { type Claim, leaseCoversCallback } from './callback-lease.js';
import type { CallbackRoute } from './callbacks.openapi.js';
import { CallbackStore } from './callback.store.js';

/** Maximum number of bytes of a provider's answer that are stored and logged. Contract, section 7. */
const KEPT_ANSWER_BYTES = 4096;

/** Routes on which a 200 is a success as soon as its headers have arrived; the body is ignored. */
const BODY_IGNORED: ReadonlySet<CallbackRoute> = new Set([
  '/v1/game/free-spins/cancel',
  '/v1/game/session/revoke',
]);

interface ProviderCallback {
  readonly providerId: string;
  readonly route: CallbackRoute;
  /** The requestRef or sessionId by which administrators find the callback. */
  readonly reference: string;
  readonly body: object;
  /** Undefined for a question, which needs no claim. */
  readonly claim: Claim | undefined;
}

/** The outcome of a callback. `error` has no internal details, so that the API can show it. */
export type CallbackOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The first 4 KiB of the body as text, for the log and the record of the callback. */
      readonly words: string;
      /** The answer's JSON object; absent if the answer is incomplete or not a JSON object. */
      readonly fields?: Readonly<Record<string, unknown>>;
      /** Why the answer is incomplete. */
      readonly error?: string;
    }
  | {
      readonly kind: 'unanswered';
      readonly error: string;
      /** Whether the provider may have processed the call. */
      readonly mayHaveArrived: boolean;
      /** True if this instance could not make the call, which says nothing about the provider. The call is still due. */
      readonly notMade?: true;
    };

export function isNotMade(outcome: CallbackOutcome): outcome is Extract<CallbackOutcome, { notMade?: true }> {
  return outcome.kind === 'unanswered' && outcome.notMade === true;
}

/**
 * Makes all calls to providers: signs with the provider's secret, sends once without retry, and records each attempt
 * before the call and its outcome after it. Contract, section 6.
 */
@Injectable()
export class ProviderCallbacks {
  private readonly logger = new Logger('ProviderCallback');

  constructor(
    private readonly configuration: Configuration,
    private readonly tenancy: TenancyService,
    private readonly http: CallbackHttp,
    private readonly store: CallbackStore,
    private readonly metrics: Metrics,
    private readonly healthScores: HealthScores,
  ) {}

  /**
   * Sends a callback, even to a disabled provider, because cancels and revocations must reach it.
   * @returns the outcome, even if the call failed
   */
  async call(callback: ProviderCallback): Promise<CallbackOutcome> {
    const provider = this.tenancy.provider(callback.providerId);
    if (!provider) return unsent('the provider is unknown to this instance');
    // Read before the first await: a reload of the directory may remove the provider.
    const secret = this.tenancy.signingSecret(provider.id);
    const body = JSON.stringify(callback.body);
    const callbackId = await this.begin(callback, body);
    if (callbackId === undefined) return unsent('the call could not be recorded');
    if (callback.claim && !leaseCoversCallback(this.configuration, callback.claim)) {
      const late = unsent('this instance was suspended, or too slow, after it claimed the call');
      const { providerId, route, reference } = callback;
      this.logger.error({ msg: 'a callback was not sent', providerId, route, reference, error: late.error });
      await this.complete(callbackId, late, 0);
      return late;
    }
    const startedMs = monotonicMs();
    const answer = await this.post(provider, secret, callback, body);
    const durationMs = monotonicMs() - startedMs;
    this.measure(callback, answer, durationMs);
    const outcome = this.outcome(answer);
    this.logFailure(callback, answer, outcome);
    await this.complete(callbackId, outcome, durationMs);
    return outcome;
  }

  /** @returns the id of the attempt; undefined if it could not be recorded */
  private async begin(
    { providerId, route, reference }: ProviderCallback,
    body: string,
  ): Promise<number | undefined> {
    const requestId = currentRequestId() ?? null;
    try {
      return await this.store.begin({ providerId, route, reference, requestId, body });
    } catch (error) {
      this.logger.error({
        msg: 'a callback could not be recorded and was not sent',
        route,
        reference,
        err: error,
      });
      return undefined;
    }
  }

  private post(
    { webhookBaseUrl }: Provider,
    secret: string,
    { providerId, route, reference }: ProviderCallback,
    body: string,
  ): Promise<CallbackAnswer> {
    return measureCall(
      'callback',
      () =>
        this.http.post({
          url: webhookBaseUrl + route,
          tenantId: providerId,
          secret,
          body: Buffer.from(body),
          timeoutMs: this.configuration.callbackTimeoutMs,
          ignoresBodyOf200: BODY_IGNORED.has(route),
        }),
      (outcome) => ({
        'croupier.providerId': providerId,
        'croupier.reference': reference,
        'http.route': route,
        ...(outcome?.kind === 'answered' && { 'http.response.status_code': outcome.status }),
        'croupier.outcome': outcome?.kind === 'answered' ? 'answered' : (outcome?.cause ?? 'failed'),
      }),
    );
  }

  /** Records the outcome of the attempt. Never rejects. */
  private async complete(callbackId: number, outcome: CallbackOutcome, durationMs: number): Promise<void> {
    const completion = {
      status: outcome.kind === 'answered' ? outcome.status : null,
      answer: outcome.kind === 'answered' ? outcome.words : null,
      error: outcome.error ?? null,
      durationMs: Math.round(durationMs),
    };
    await this.store.complete(callbackId, completion).catch((error: unknown) => {
      this.logger.error({
        msg: 'the outcome of a callback could not be recorded',
        callbackId,
        completion,
        err: error,
      });
    });
  }

  private outcome(answer: CallbackAnswer): CallbackOutcome {
    const { callbackTimeoutMs } = this.configuration;
    if (answer.kind === 'unanswered') {
      const code = /^[A-Z][A-Z0-9_]{1,40}$/.test(answer.code ?? '') ? ` (${String(answer.code)})` : '';
      const error = {
        timeout: `the provider did not answer within ${callbackTimeoutMs} ms`,
        refused: `no connection to the provider could be made${code}`,
        lost: `the connection to the provider was lost${code}`,
      }[answer.cause];
      return { kind: 'unanswered', error, mayHaveArrived: answer.mayHaveArrived };
    }
    const { status, body, cut } = answer;
    const words = text(body);
    if (cut) {
      const error = {
        timeout: `the answer was not complete within ${callbackTimeoutMs} ms`,
        'too-large': 'the answer is larger than 64 KiB, or in too many parts',
        lost: 'the connection was lost in the middle of the answer',
      }[cut];
      return { kind: 'answered', status, words, error };
    }
    const fields = parseJsonObject(body);
    return { kind: 'answered', status, words, ...(fields && { fields }) };
  }

  private measure({ providerId, route }: ProviderCallback, answer: CallbackAnswer, durationMs: number): void {
    const outcome = answer.kind === 'answered' ? answer.status : answer.cause;
    this.metrics.callbackSent(providerId, route, outcome, durationMs);
    this.healthScores.callEnded(providerId, healthOf(answer), durationMs);
  }

  /** Logs a failed callback with the provider's answer. The callback is not repeated, so there is no other answer. */
  private logFailure(
    { providerId, route, reference }: ProviderCallback,
    answer: CallbackAnswer,
    outcome: CallbackOutcome,
  ): void {
    const line = { msg: 'a callback failed', providerId, route, reference, error: outcome.error };
    if (answer.kind === 'unanswered') return this.logger.error({ ...line, detail: answer.detail });
    if (outcome.kind === 'unanswered' || (outcome.status === 200 && outcome.error === undefined)) return;
    this.logger.error({ ...line, status: outcome.status, answer: outcome.words });
  }
}

function healthOf(answer: CallbackAnswer): CallResult {
  if ((answer.kind === 'answered' ? answer.cut : answer.cause) === 'timeout') return 'timeout';
  return answer.kind === 'answered' && answer.status === 200 && !answer.cut ? 'succeeded' : 'failed';
}

function unsent(error: string): CallbackOutcome {
  return { kind: 'unanswered', error, mayHaveArrived: false, notMade: true };
}

/** The first 4 KiB of the body as text that the log and the database accept: valid UTF-8 without NUL. */
function text(body: Buffer): string {
  return storable(body.subarray(0, KEPT_ANSWER_BYTES).toString('utf8'));
}
