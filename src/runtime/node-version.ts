interface SupportedLine {
  readonly major: number;
  /** The release with the latest security fixes of this line when the list was last revised. */
  readonly patched: string;
  readonly until: string;
}

/**
 * The lines of Node that get security fixes, as of 25 November 2026. `patched` are the security releases of 29 July
 * 2026; SECURITY.md lists what they fix. `until` is from the release schedule of the Node.js project. Node 20, on which
 * this service still runs, has had no fixes since 30 April 2026.
 */
export const SUPPORTED_LINES: readonly SupportedLine[] = [
  { major: 22, patched: '22.23.2', until: '2027-04-30' },
  { major: 24, patched: '24.18.1', until: '2028-04-30' },
  { major: 26, patched: '26.5.1', until: '2029-04-30' },
];

/** The line that the service is developed and measured for. */
const REFERENCE = 24;

/**
 * Says what is wrong with a version of Node in production.
 * @param version such as `24.18.1`
 * @returns undefined if it is a supported line with the known security fixes
 */
export function nodeWarning(version: string, now: Date): string | undefined {
  const major = Number.parseInt(version, 10);
  const line = SUPPORTED_LINES.find((supported) => supported.major === major);
  if (line === undefined || now > new Date(`${line.until}T23:59:59Z`)) {
    return `Node ${major} (${version}) is not a line that gets security fixes: run this service on Node ${REFERENCE}`;
  }
  if (version.localeCompare(line.patched, 'en', { numeric: true }) >= 0) return undefined;
  return `Node ${major} (${version}) lacks known security fixes: update it to ${line.patched} or a newer ${major}`;
}
