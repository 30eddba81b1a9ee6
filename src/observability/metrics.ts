import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Sampling interval of the event loop's delay, in milliseconds, which the reported delays include. Each sample wakes the
 * process: the library's default of a hundred per second costs an idle service more than all its other work.
 */
const EVENT_LOOP_SAMPLE_MS = 100;

/** Bounds of the deferred updates: their number, and their delay in milliseconds. */
const DEFERRED_LIMIT = 100;
const DEFERRED_MS = 200;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Every metric of the service, with one method for each event that it counts. Metric names end with their unit.
 *
 * Updates on the hot path are deferred and applied in groups, always before the metrics are read: prom-client's look-up
 * of a metric's labels is several times cheaper right after another one. Applied one by one, they cost a BET about 5 %.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  private requestsInFlight = 0;
  private operatorCallsInFlight = 0;
  private deferred: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;

  private readonly requests = new Counter({
    name: 'croupier_http_requests_total',
    help: 'Requests by route and outcome: the status, or the error code of a refusal',
    labelNames: ['route', 'outcome'],
    registers: [this.registry],
  });
  private readonly requestSeconds = new Histogram({
    name: 'croupier_http_request_duration_seconds',
    help: 'Time from the request line to the last byte of the answer',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  private readonly signatureFailures = new Counter({
    name: 'croupier_signature_failures_total',
    help: 'Calls refused with 401 invalid signature, by the reason that the caller is not told',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  private readonly connectionsDestroyed = new Counter({
    name: 'croupier_connections_destroyed_total',
    help: 'Client connections that the server destroyed, by the bound that they exceeded',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  private readonly operatorCalls = new Counter({
    name: 'croupier_operator_calls_total',
    help: "Calls to operators' wallets by operation and outcome",
    labelNames: ['operation', 'outcome'],
    registers: [this.registry],
  });
  private readonly operatorCallSeconds = new Histogram({
    name: 'croupier_operator_call_duration_seconds',
    help: "Time of calls to operators' wallets, from connect to the last byte",
    labelNames: ['operation'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  private readonly callbacks = new Counter({
    name: 'croupier_callbacks_total',
    help: 'Callbacks to providers by route and outcome: the status, or why there was none',
    labelNames: ['route', 'outcome'],
    registers: [this.registry],
  });
  private readonly callbackSeconds = new Histogram({
    name: 'croupier_callback_duration_seconds',
    help: 'Time of callbacks to providers, from connect to the last byte',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  private readonly flaggedWinnings = new Counter({
    name: 'croupier_flagged_winnings_total',
    help: 'Booked WINs that a person should look at, by flag: no live grant or no standing BET behind them',
    labelNames: ['flag'],
    registers: [this.registry],
  });
  private readonly transactions = new Counter({
    name: 'croupier_transactions_total',
    help: 'Attempts that settled, by kind and the state they reached',
    labelNames: ['kind', 'state', 'mode'],
    registers: [this.registry],
  });
  private readonly groupCommitBatchSizes = new Histogram({
    name: 'croupier_group_commit_members',
    help: 'Claims and settlements that went to the database together, by statement',
    labelNames: ['statement'],
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers: [this.registry],
  });
  private readonly groupCommitFailures = new Counter({
    name: 'croupier_group_commits_broken_total',
    help: 'Batches that failed, for a lock or a fault, and whose members went on alone, by statement',
    labelNames: ['statement'],
    registers: [this.registry],
  });
  private readonly resolutions = new Counter({
    name: 'croupier_resolutions_total',
    help: 'What the resolver came to with transactions that nobody retried, by outcome',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  constructor() {
    this.gauge('croupier_http_requests_in_flight', 'Requests being worked on', () => this.requestsInFlight);
    this.gauge(
      'croupier_operator_calls_in_flight',
      "Calls to operators' wallets that are waiting for an answer",
      () => this.operatorCallsInFlight,
    );
    collectDefaultMetrics({
      register: this.registry,
      prefix: 'croupier_',
      eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS,
    });
  }

  requestStarted(): void {
    this.requestsInFlight += 1;
  }

  /** @param outcome the status, or the error code of a refusal */
  requestEnded(route: string, outcome: string, durationMs: number): void {
    this.requestsInFlight -= 1;
    this.defer(() => {
      this.requests.inc({ route, outcome });
      this.requestSeconds.observe({ route }, durationMs / 1000);
    });
  }

  /** A request that was refused before it had a route, because it is not valid HTTP. */
  malformedRequestRefused(status: string): void {
    this.requests.inc({ route: 'unknown', outcome: status });
  }

  signatureRefused(reason: string): void {
    this.signatureFailures.inc({ reason });
  }

  connectionDestroyed(reason: string): void {
    this.connectionsDestroyed.inc({ reason });
  }

  operatorCallStarted(): void {
    this.operatorCallsInFlight += 1;
  }

  /** @param outcome undefined if the call threw */
  operatorCallEnded(operation: string, outcome: string | undefined, durationMs: number): void {
    this.operatorCallsInFlight -= 1;
    this.defer(() => {
      if (outcome !== undefined) this.operatorCalls.inc({ operation, outcome });
      this.operatorCallSeconds.observe({ operation }, durationMs / 1000);
    });
  }

  callbackSent(route: string, outcome: string, durationMs: number): void {
    this.callbacks.inc({ route, outcome });
    this.callbackSeconds.observe({ route }, durationMs / 1000);
  }

  winningFlagged(flag: string): void {
    this.flaggedWinnings.inc({ flag });
  }

  transactionSettled(kind: string, state: string, mode: string): void {
    this.defer(() => this.transactions.inc({ kind, state, mode }));
  }

  /** @param size items of the batch */
  batchSent(statement: string, size: number): void {
    this.defer(() => this.groupCommitBatchSizes.observe({ statement }, size));
  }

  batchFailed(statement: string): void {
    this.groupCommitFailures.inc({ statement });
  }

  transactionResolved(outcome: string): void {
    this.resolutions.inc({ outcome });
  }

  /** All metrics in Prometheus' text format. */
  text(): Promise<string> {
    this.applyDeferred();
    return this.registry.metrics();
  }

  private gauge(name: string, help: string, level: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(level());
      },
    });
  }

  /** @param update must not throw */
  private defer(update: () => void): void {
    this.deferred.push(update);
    if (this.deferred.length >= DEFERRED_LIMIT) this.applyDeferred();
    else this.timer ??= setTimeout(() => this.applyDeferred(), DEFERRED_MS).unref();
  }

  private applyDeferred(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const updates = this.deferred;
    this.deferred = [];
    for (const update of updates) update();
  }
}
