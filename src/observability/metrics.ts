import { HttpStatus, Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import { VERSION } from '../runtime/build.js';
import { type PolledGauge, registerGauge } from './polled-gauge.js';
import { BoundedTenants, type TenantLabels } from './tenant-labels.js';

/**
 * Sampling interval of the event loop's delay, in milliseconds. The reported delays include this interval. Each sample
 * wakes the process: prom-client's default of a hundred samples per second costs an idle service more than all its
 * other work.
 */
const EVENT_LOOP_SAMPLE_MS = 100;

/** Maximum number of deferred updates, and their longest delay in milliseconds. */
const DEFERRED_LIMIT = 100;
const DEFERRED_MS = 200;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Every metric of the service, with one method for each counted event. The name of a duration ends with its unit, and
 * the name of a counter with `_total`.
 *
 * Updates on the hot path are deferred and applied in groups, always before the metrics are read. In prom-client,
 * look-ups of labels are several times cheaper if they follow each other. Individual updates would cost about 5 % of a
 * BET.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  private readonly tenants = new BoundedTenants();
  private requestsInFlight = 0;
  private operatorCallsInFlight = 0;
  private deferred: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;

  private readonly requests = this.counter(
    'croupier_http_requests_total',
    'Requests by route, outcome (status, error code, CLIENT_WENT_AWAY or CUT_OFF) and the tenant that sent them',
    ['route', 'outcome', 'operator', 'provider'],
  );
  private readonly requestSeconds = this.histogram(
    'croupier_http_request_duration_seconds',
    'Time from receiving the headers to the last byte of the answer',
    ['route'],
  );
  readonly signatureFailures = this.counter(
    'croupier_signature_failures_total',
    'Calls refused with 401 invalid signature, by the reason, which the caller does not get',
    ['reason'],
  );
  readonly connectionsDestroyed = this.counter(
    'croupier_connections_destroyed_total',
    'Client connections that the server destroyed, by the bound that they exceeded',
    ['reason'],
  );
  private readonly operatorCalls = this.counter(
    'croupier_operator_calls_total',
    "Calls to operators' wallets by operation and outcome",
    ['operator', 'operation', 'outcome'],
  );
  private readonly operatorCallSeconds = this.histogram(
    'croupier_operator_call_duration_seconds',
    "Time of calls to operators' wallets, from connect to the last byte",
    ['operator'],
  );
  private readonly operatorCallRefusals = this.counter(
    'croupier_operator_calls_refused_total',
    "Calls to operators' wallets that were refused before they were sent, by operation and reason: full or breaker-open",
    ['operator', 'operation', 'reason'],
  );
  private readonly overloadRefusals = this.counter(
    'croupier_overload_refusals_total',
    'Requests refused with OVERLOADED: full (too many under way) or waited (not admitted in time); reads- and changes- precede the reason for those of operators and administrators',
    ['reason'],
  );
  private readonly callbacks = this.counter(
    'croupier_callbacks_total',
    'Callbacks to providers by route and outcome: the status, or why there was none',
    ['provider', 'route', 'outcome'],
  );
  private readonly callbackSeconds = this.histogram(
    'croupier_callback_duration_seconds',
    'Time of callbacks to providers, from connect to the last byte',
    ['provider'],
  );
  private readonly flaggedWinnings = this.counter(
    'croupier_flagged_winnings_total',
    'Booked WINs that a person should review, by the reason',
    ['flag'],
  );
  private readonly transactions = this.counter(
    'croupier_transactions_total',
    'Attempts that settled, by kind and the state they reached',
    ['operator', 'provider', 'kind', 'state', 'mode'],
  );
  private readonly grants = this.counter(
    'croupier_free_spin_grants_total',
    'Grants of free spins by the state that they reached',
    ['operator', 'provider', 'state'],
  );
  private readonly groupCommitBatchItems = this.histogram(
    'croupier_group_commit_batch_items',
    'Items per batch, by statement',
    ['statement'],
    [1, 2, 4, 8, 16, 32, 64],
  );
  private readonly groupCommitSeconds = this.histogram(
    'croupier_group_commit_duration_seconds',
    'Time of a batch, its commit included, by statement',
    ['statement'],
  );
  readonly groupCommitFailures = this.counter(
    'croupier_group_commit_batches_failed_total',
    'Batches that failed, because of a lock or an error, and whose items were retried individually, by statement',
    ['statement'],
  );
  private readonly droppedAttemptIds = this.counter(
    'croupier_attempt_ids_dropped_total',
    'Attempts whose ids the search cannot find, because the queue was full or the write failed',
  );
  private readonly resolutions = this.counter(
    'croupier_resolutions_total',
    'Attempts of the resolver to decide a transaction, by outcome',
    ['operator', 'outcome'],
  );

  constructor() {
    this.addGauge({
      name: 'croupier_http_requests_in_flight',
      help: 'Requests being worked on',
      read: () => Promise.resolve([{ value: this.requestsInFlight }]),
    });
    this.addGauge({
      name: 'croupier_operator_calls_in_flight',
      help: "Calls to operators' wallets that are waiting for an answer",
      read: () => Promise.resolve([{ value: this.operatorCallsInFlight }]),
    });
    this.addGauge({
      name: 'croupier_build_info',
      help: 'Always 1; the labels are the version of the service and of Node',
      labelNames: ['version', 'node'],
      read: () => Promise.resolve([{ value: 1, labels: { version: VERSION, node: process.version } }]),
    });
    collectDefaultMetrics({
      register: this.registry,
      prefix: 'croupier_',
      eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS,
    });
  }

  requestStarted(): void {
    this.requestsInFlight += 1;
  }

  /**
   * @param outcome the status or the error code of a refusal; of an incomplete answer, CUT_OFF if the service could not
   *   complete it, else CLIENT_WENT_AWAY
   * @param tenant the tenant that signed the request, if any
   */
  requestEnded(route: string, outcome: string, tenant: TenantLabels, durationMs: number): void {
    this.requestsInFlight -= 1;
    this.defer(() => {
      this.requests.inc({ route, outcome, ...this.tenants.labels(tenant) });
      this.requestSeconds.observe({ route }, durationMs / 1000);
    });
  }

  /**
   * Counts a request that was refused before it had a route: invalid HTTP, headers that are too large or too slow, or a
   * CONNECT.
   */
  malformedRequestRefused(status: string): void {
    this.requests.inc({ route: 'unknown', outcome: status });
  }

  operatorCallStarted(): void {
    this.operatorCallsInFlight += 1;
  }

  /** @param outcome undefined if the call threw */
  operatorCallEnded(
    operatorId: string,
    operation: string,
    outcome: string | undefined,
    durationMs: number,
  ): void {
    this.operatorCallsInFlight -= 1;
    this.defer(() => {
      const operator = this.tenants.operator(operatorId);
      if (outcome !== undefined) this.operatorCalls.inc({ operator, operation, outcome });
      this.operatorCallSeconds.observe({ operator }, durationMs / 1000);
    });
  }

  overloadRefused(reason: string): void {
    this.overloadRefusals.inc({ reason });
  }

  operatorCallRefused(operatorId: string, operation: string, reason: string): void {
    this.operatorCallRefusals.inc({ operator: this.tenants.operator(operatorId), operation, reason });
  }

  /** @param outcome the status of the answer, or why there was none */
  callbackSent(providerId: string, route: string, outcome: number | string, durationMs: number): void {
    const provider = this.tenants.provider(providerId);
    this.callbacks.inc({
      provider,
      route,
      outcome: typeof outcome === 'number' ? statusLabel(outcome) : outcome,
    });
    this.callbackSeconds.observe({ provider }, durationMs / 1000);
  }

  grantReached(operatorId: string, providerId: string, state: string): void {
    this.grants.inc({ ...this.tenants.pair(operatorId, providerId), state });
  }

  winningFlagged(flag: string): void {
    this.flaggedWinnings.inc({ flag });
  }

  transactionSettled(
    operatorId: string,
    providerId: string,
    kind: string,
    state: string,
    mode: string,
  ): void {
    this.defer(() => {
      const { operator, provider } = this.tenants.pair(operatorId, providerId);
      this.transactions.inc({ operator, provider, kind, state, mode });
    });
  }

  batchSent(statement: string, items: number): void {
    this.defer(() => this.groupCommitBatchItems.observe({ statement }, items));
  }

  batchCommitted(statement: string, durationMs: number): void {
    this.defer(() => this.groupCommitSeconds.observe({ statement }, durationMs / 1000));
  }

  attemptIdsDropped(attempts: number): void {
    this.droppedAttemptIds.inc(attempts);
  }

  transactionResolved(operatorId: string, outcome: string): void {
    this.resolutions.inc({ operator: this.tenants.operator(operatorId), outcome });
  }

  text(): Promise<string> {
    this.applyDeferred();
    return this.registry.metrics();
  }

  addGauge(gauge: PolledGauge): void {
    registerGauge(this.registry, this.tenants, gauge);
  }

  private counter<Label extends string>(name: string, help: string, labelNames: Label[] = []) {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    buckets = SECONDS,
  ) {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
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

/** The status if NestJS names it, else its class, such as `2xx`: a provider may send any three digits. */
function statusLabel(status: number): string {
  return status in HttpStatus ? String(status) : `${Math.floor(status / 100)}xx`;
}
