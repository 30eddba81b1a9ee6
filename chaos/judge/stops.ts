import { FRESH_MS, PATIENCE_MS } from '../load/client.js';
import type { FaultRecord } from '../load/history.js';
import type { Unanswered } from '../load/provider.js';
import { SHUTDOWN_DELAY_MS } from '../processes/instance.js';
import { disturbs, wasUnderWay } from './explanations.js';

/** A request that is late by more than this has arrived after the listener closed, in milliseconds. */
const TOO_LATE_MS = SHUTDOWN_DELAY_MS - FRESH_MS;

export interface JudgedStops {
  /** The number of requests that the client had to send again, as HTTP permits. */
  readonly sentAgain: number;
  readonly violations: readonly string[];
}

/**
 * Tells the requests without an answer that a stopping instance should have answered from those that HTTP lets a server
 * refuse: RFC 9112, section 9.3.1. The client sends these again, with the same id.
 */
export function judgeStops(unanswered: readonly Unanswered[], faults: readonly FaultRecord[]): JudgedStops {
  const violations = unanswered.flatMap((lost) => {
    const why = lost.silent ? silence(lost, faults) : loss(lost);
    return why === undefined
      ? []
      : [`${lost.transactionId}: instance ${lost.instance}, which was stopping, ${why}`];
  });
  const closed = unanswered.filter((lost) => !lost.silent && loss(lost) === undefined);
  return { sentAgain: closed.length, violations };
}

/** Why a request that got no answer in time is a finding; undefined if a fault or the tool's own lag explains it. */
function silence(
  { instance, sent, lostAt, lagMs }: Unanswered,
  faults: readonly FaultRecord[],
): string | undefined {
  const waitedMs = lostAt - sent - lagMs;
  if (waitedMs < PATIENCE_MS) return undefined;
  const isExplained = (record: FaultRecord) =>
    record.fault.kind !== 'rolling-restart' &&
    disturbs(record.fault, instance) &&
    wasUnderWay(record, sent, lostAt);
  return faults.some(isExplained) ? undefined : `gave no answer in ${waitedMs} ms, without another fault`;
}

/**
 * Why a lost connection is a finding. After its listener has closed, an instance may refuse a connection, and close one
 * that was idle although a request is on its way.
 */
function loss({
  signalledAt,
  lostAt,
  code,
  answerBegun,
  reached,
  reused,
  lagMs,
}: Unanswered): string | undefined {
  const afterMs = lostAt - signalledAt;
  if (afterMs < SHUTDOWN_DELAY_MS) return `closed a connection (${code}) ${afterMs} ms after its signal`;
  if (answerBegun) return `sent only a part of an answer (${code})`;
  if (!reached || reused || lagMs > TOO_LATE_MS) return undefined;
  return `closed a new connection without an answer (${code}) ${afterMs} ms after its signal`;
}
