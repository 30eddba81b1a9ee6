import { createHash } from 'node:crypto';
import type { CaseResult, Latency, Outcome } from '../outcome.js';
import { type Grade, gradeOf } from './grade.js';
import { counts, isCertified, restartsTested, type Run, SUBJECTS } from './run.js';

export type GradedLatency = Latency & { grade: Grade };

/** A run with its digest, as the JSON report has it. */
export type Certificate = Readonly<Record<string, unknown>> & { readonly digest: string };

/** The certificate of a run: its facts, its counts and every case with its outcome. */
export function certificateOf(run: Run): Certificate {
  const { certification, version, tenantId, address, startedAt, options, weakenedOptions, results } = run;
  const cases = results.map(({ outcome, ...about }) => {
    const { kind, ...found } = outcome;
    const latencies = outcome.kind === 'passed' ? outcome.latencies?.map(graded) : undefined;
    return { ...about, outcome: kind, ...found, ...(latencies && { latencies }) };
  });
  const content = {
    certification,
    version,
    tenantId,
    [address.name]: address.url,
    startedAt,
    options,
    weakenedOptions,
    certified: isCertified(run),
    complete: run.complete,
    restartsTested: restartsTested(run),
    counts: counts(results),
    cases,
  };
  return { ...content, digest: digestOf(content) };
}

/**
 * The run whose certificate this is.
 * @throws TypeError if the certificate has no list of cases, or its certification is not known
 */
export function runOf(certificate: Readonly<Record<string, unknown>>): Run {
  const { cases, ...facts } = certificate as unknown as Omit<Run, 'subject' | 'address' | 'results'> & {
    cases: (Omit<CaseResult, 'outcome'> & { outcome: string })[];
  };
  const { certification, version, tenantId, startedAt, complete, options, weakenedOptions } = facts;
  if (!Object.hasOwn(SUBJECTS, certification))
    throw new TypeError(`There is no certification "${certification}".`);
  const { subject, addressName: name } = SUBJECTS[certification as keyof typeof SUBJECTS];
  const results = cases.map(({ id, title, group, rule, durationMs, outcome: kind, ...found }) => {
    const outcome = { kind, ...found } as Outcome;
    return { id, title, group, rule, durationMs, outcome };
  });
  const address = { name, url: certificate[name] as string };
  const about = { certification, subject, version, tenantId, address, startedAt, complete };
  return { ...about, options, weakenedOptions, results };
}

export function graded(latency: Latency): GradedLatency {
  return { ...latency, grade: gradeOf(latency) };
}

/** The SHA-256 of the canonical form of a certificate without its digest, in lower-case hexadecimal. */
export function digestOf(certificate: object): string {
  const content = Object.fromEntries(Object.entries(certificate).filter(([name]) => name !== 'digest'));
  return sha256(canonical(content));
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** JSON without white space, in which the keys of each object are in the order of their UTF-16 code units. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`);
  return `{${members.join(',')}}`;
}
