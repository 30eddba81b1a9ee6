import { counts, isCertified, type Run } from './run.js';

/** The report as JSON text: the run, its counts and every case with its outcome. */
export function jsonReport(run: Run): string {
  const { certification, version, tenantId, address, startedAt, results } = run;
  const cases = results.map(({ outcome: { kind, ...found }, ...about }) => ({
    ...about,
    outcome: kind,
    ...found,
  }));
  const report = {
    certification,
    version,
    tenantId,
    [address.name]: address.url,
    startedAt,
    certified: isCertified(run),
    counts: counts(results),
    cases,
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}
