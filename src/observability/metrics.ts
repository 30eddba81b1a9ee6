import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * How often the event loop's delay is looked at, in milliseconds, which the delays that are told include. Each look wakes
 * the process: a hundred in a second, as the library would have it, are more work than an idle service has beside.
 */
const EVENT_LOOP_LOOK_MS = 100;

/** When what was put off is measured at the latest: after so many, or after so long, in milliseconds. */
const PUT_OFF_MOST = 100;
const PUT_OFF_MS = 200;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Measurement = (metrics: Metrics) => void;

/** Every metric of the service; names end with their unit. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  /** What is being worked on now. */
  readonly inFlight = { requests: 0, operatorCalls: 0 };
  private putOff: Measurement[] = [];
  private timer: NodeJS.Timeout | undefined;

  readonly requests = new Counter({
    name: 'croupier_http_requests_total',
    help: 'Requests by route and outcome: the status, or the error code of a refusal',
    labelNames: ['route', 'outcome'],
    registers: [this.registry],
  });
  readonly requestSeconds = new Histogram({
    name: 'croupier_http_request_duration_seconds',
    help: 'Time from the request line to the last byte of the answer',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly signatureFailures = new Counter({
    name: 'croupier_signature_failures_total',
    help: 'Calls refused with 401 invalid signature, by the reason that the caller is not told',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  readonly connectionsDestroyed = new Counter({
    name: 'croupier_connections_destroyed_total',
    help: 'Client connections that the server destroyed, by the bound that they exceeded',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  readonly operatorCalls = new Counter({
    name: 'croupier_operator_calls_total',
    help: "Calls to operators' wallets by operation and outcome",
    labelNames: ['operation', 'outcome'],
    registers: [this.registry],
  });
  readonly operatorCallSeconds = new Histogram({
    name: 'croupier_operator_call_duration_seconds',
    help: "Time of calls to operators' wallets, from connect to the last byte",
    labelNames: ['operation'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly callbacks = new Counter({
    name: 'croupier_callbacks_total',
    help: 'Callbacks to providers by route and outcome: the status, or why there was none',
    labelNames: ['route', 'outcome'],
    registers: [this.registry],
  });
  readonly callbackSeconds = new Histogram({
    name: 'croupier_callback_duration_seconds',
    help: 'Time of callbacks to providers, from connect to the last byte',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  readonly flaggedWinnings = new Counter({
    name: 'croupier_flagged_winnings_total',
    help: 'Booked WINs that a person should look at, by flag: no live grant or no standing BET behind them',
    labelNames: ['flag'],
    registers: [this.registry],
  });
  readonly transactions = new Counter({
    name: 'croupier_transactions_total',
    help: 'Attempts that settled, by kind and the state they reached',
    labelNames: ['kind', 'state', 'mode'],
    registers: [this.registry],
  });
  readonly groupCommitMembers = new Histogram({
    name: 'croupier_group_commit_members',
    help: 'Claims and settlements that went to the database together, by statement',
    labelNames: ['statement'],
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers: [this.registry],
  });
  readonly groupCommitsBroken = new Counter({
    name: 'croupier_group_commits_broken_total',
    help: 'Batches that failed, for a lock or a fault, and whose members went on alone, by statement',
    labelNames: ['statement'],
    registers: [this.registry],
  });
  readonly resolutions = new Counter({
    name: 'croupier_resolutions_total',
    help: 'What the resolver came to with transactions that nobody retried, by outcome',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  constructor() {
    const { inFlight } = this;
    this.gauge('croupier_http_requests_in_flight', 'Requests being worked on', () => inFlight.requests);
    this.gauge(
      'croupier_operator_calls_in_flight',
      "Calls to operators' wallets that are waiting for an answer",
      () => inFlight.operatorCalls,
    );
    collectDefaultMetrics({
      register: this.registry,
      prefix: 'croupier_',
      eventLoopMonitoringPrecision: EVENT_LOOP_LOOK_MS,
    });
  }

  /**
   * Measures soon, and before anybody reads: to look up a metric's labels is dear for a process that comes from
   * something else, and cheap for one that has just done so for others.
   * @param measurement must not throw
   */
  later(measurement: Measurement): void {
    this.putOff.push(measurement);
    if (this.putOff.length >= PUT_OFF_MOST) this.catchUp();
    else this.timer ??= setTimeout(() => this.catchUp(), PUT_OFF_MS).unref();
  }

  /** All of it as Prometheus reads it. */
  text(): Promise<string> {
    this.catchUp();
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

  private catchUp(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const measurements = this.putOff;
    this.putOff = [];
    for (const measurement of measurements) measurement(this);
  }
}
