import type { CaseResult, Outcome } from '../outcome.js';

/** A finished certification, with the data for its reports. */
export interface Run {
  /** The command: `certify`, `certify-operator` or `certify-client`. */
  certification: string;
  /** The subject, for the heading of a report: "Provider server". */
  subject: string;
  /** The version of this package, which ran the cases. */
  version: string;
  tenantId: string;
  /** The address or command under test, and the name of its field in the JSON report. */
  address: { name: string; url: string };
  /** ISO 8601, UTC. */
  startedAt: string;
  /** Whether every case of the certification was selected. */
  complete: boolean;
  /** The values of the options that have a default, by their names; undefined in a certificate of an older version. */
  options?: Readonly<Record<string, string>> | undefined;
  /** The names of those options whose value makes the certification easier to pass than the default. */
  weakenedOptions?: readonly string[] | undefined;
  results: readonly CaseResult[];
}

/** What each certification tests: the heading of its report, and the field of the JSON report with the address. */
export const SUBJECTS = {
  certify: { subject: 'Provider server', addressName: 'webhookBaseUrl' },
  'certify-operator': { subject: 'Operator wallet', addressName: 'walletBaseUrl' },
  'certify-client': { subject: 'Client of the platform', addressName: 'command' },
} as const;

type Counts = Record<Outcome['kind'], number>;

export function counts(results: readonly CaseResult[]): Counts {
  const sum: Counts = { passed: 0, failed: 0, blocked: 0, skipped: 0 };
  for (const { outcome } of results) sum[outcome.kind] += 1;
  return sum;
}

/** The group of the cases that restart the server. A certificate does not need them, but says whether they passed. */
const RESTART_GROUP = 'restart';
/** All cases of this group, of which a run may have selected one. */
const RESTART_CASES = ['restart-keeps-bookings', 'restart-during-calls'];

/** Whether every case about restarts ran and passed; undefined for a certification without such cases. */
export function restartsTested({ certification, results }: Run): boolean | undefined {
  if (certification !== 'certify-operator') return undefined;
  const passed = results.filter(({ outcome }) => outcome.kind === 'passed').map(({ id }) => id);
  return RESTART_CASES.every((id) => passed.includes(id));
}

/** Whether every case ran and passed; a skipped case proves nothing. Only the cases about restarts may be skipped. */
export function isCertified({ complete, results }: Run): boolean {
  const isFulfilled = ({ group, outcome: { kind } }: CaseResult) =>
    kind === 'passed' || (kind === 'skipped' && group === RESTART_GROUP);
  return complete && counts(results).passed > 0 && results.every(isFulfilled);
}

/**
 * The verdict in one to three sentences. Undefined if only some cases were selected and none of them failed or was
 * blocked: a selection certifies nothing.
 */
export function verdict(run: Run): string | undefined {
  const { failed, blocked } = counts(run.results);
  if (failed + blocked > 0) return 'The integration is not certified.';
  if (!run.complete) return undefined;
  const sentences = [
    isCertified(run)
      ? 'The integration is certified.'
      : 'The integration is certified except for the skipped cases.',
  ];
  if (restartsTested(run) === false) sentences.push('Restarts were not tested.');
  const { options = {}, weakenedOptions = [] } = run;
  if (weakenedOptions.length > 0) {
    const weakened = weakenedOptions.map((name) => `--${name} ${options[name]}`);
    sentences.push(`Options that test less than their defaults: ${weakened.join(', ')}.`);
  }
  return sentences.join(' ');
}

/** The options as they stand on a command line. */
export function optionsLine(options: Readonly<Record<string, string>>): string {
  return Object.entries(options)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ');
}
