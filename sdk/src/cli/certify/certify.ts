import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { EXIT, paint, secretFrom, type Terminal, UsageError, wholeNumber } from '../terminal.js';
import type { ProviderUnderTest } from './caller.js';
import type { CaseResult } from './outcome.js';
import { counts, isCertified, jsonReport, junitReport, type Run } from './reports.js';
import { CASES, runCases } from './runner.js';

export const CERTIFY_HELP = `croupier-provider certify --webhook-base-url URL --tenant ID [options]

Runs every callback scenario against your server, as the platform would call it. Run it
against a test environment: it grants and cancels free spins and revokes sessions. The
secret is taken from CROUPIER_SECRET.

  --webhook-base-url URL   as it is registered with the platform
  --tenant ID              your tenant identifier
  --player-ref TEXT        a player that your server knows; default: certify-player
  --game-id TEXT           a game that your server knows; default: certify-game
  --currency CODE          default: EUR
  --bet-amount-minor N     the stake of the spins; default: 20
  --play-path PATH         below the webhook base URL; a POST there, signed as a callback is,
                           with {externalRef, playerRef, gameId}, plays one spin and is
                           answered 200. Without it the cases that need a spin are skipped.
  --timeout-ms N           for one call; default: 10000, as the platform's
  --slow-ms N              how long a slow body pauses; default: 500
  --only ID                runs this case alone; may be repeated
  --junit FILE             writes the report as JUnit XML
  --json FILE              writes the report as JSON
  --list                   prints the cases and does nothing else

Exit status: 0 nothing failed, 1 something did, 2 the command cannot be carried out.`;

const OPTIONS = {
  'webhook-base-url': { type: 'string' },
  tenant: { type: 'string' },
  'player-ref': { type: 'string', default: 'certify-player' },
  'game-id': { type: 'string', default: 'certify-game' },
  currency: { type: 'string', default: 'EUR' },
  'bet-amount-minor': { type: 'string', default: '20' },
  'play-path': { type: 'string' },
  'timeout-ms': { type: 'string', default: '10000' },
  'slow-ms': { type: 'string', default: '500' },
  only: { type: 'string', multiple: true },
  junit: { type: 'string' },
  json: { type: 'string' },
  list: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parse>;

/** @throws UsageError, or what parseArgs throws, when the arguments cannot be used */
export async function certify(args: string[], terminal: Terminal): Promise<number> {
  const values = parse(args);
  if (values.list) {
    for (const { id, group, title } of CASES) terminal.print(`${group.padEnd(10)} ${id.padEnd(30)} ${title}`);
    return EXIT.ok;
  }
  const cases = chosen(values.only);
  const provider = providerIn(values, secretFrom(terminal));
  const webhookBaseUrl = provider.webhookBaseUrl.href;
  const startedAt = new Date(terminal.now()).toISOString();
  terminal.print(`${cases.length} cases against ${webhookBaseUrl} as ${provider.tenantId}\n`);
  const tell = (result: CaseResult) => terminal.print(line(result, terminal));
  const results = await runCases(cases, provider, tell, terminal.now);
  const run = { tenantId: provider.tenantId, webhookBaseUrl, startedAt, results };
  if (values.junit !== undefined) await write(values.junit, junitReport(run));
  if (values.json !== undefined) await write(values.json, jsonReport(run));
  terminal.print(summary(run, cases.length === CASES.length));
  const { failed, blocked } = counts(results);
  return failed + blocked === 0 ? EXIT.ok : EXIT.failed;
}

function parse(args: string[]) {
  return parseArgs({ args, options: OPTIONS }).values;
}

function chosen(ids: string[] | undefined): typeof CASES {
  const unknown = ids?.find((id) => !CASES.some((each) => each.id === id));
  if (unknown !== undefined) throw new UsageError(`There is no case "${unknown}": --list prints them.`);
  return ids ? CASES.filter(({ id }) => ids.includes(id)) : CASES;
}

function providerIn(values: Values, secret: string): ProviderUnderTest {
  const { tenant, currency } = values;
  if (!tenant) throw new UsageError('--tenant is missing.');
  if (!/^[A-Z]{3}$/.test(currency)) throw new UsageError('--currency must be three upper-case letters.');
  const playPath = values['play-path'];
  if (playPath !== undefined && !playPath.startsWith('/'))
    throw new UsageError('--play-path begins with a slash.');
  return {
    webhookBaseUrl: webhookBaseUrlIn(values['webhook-base-url']),
    tenantId: tenant,
    secret,
    playerRef: values['player-ref'],
    gameId: values['game-id'],
    currency,
    betAmountMinor: wholeNumber('bet-amount-minor', values['bet-amount-minor'], 0),
    playPath,
    timeoutMs: wholeNumber('timeout-ms', values['timeout-ms'], 1),
    slowMs: wholeNumber('slow-ms', values['slow-ms'], 0),
  };
}

function webhookBaseUrlIn(text: string | undefined): URL {
  if (!text) throw new UsageError('--webhook-base-url is missing.');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash)
    return url;
  throw new UsageError('--webhook-base-url must be http(s), without credentials, query and fragment.');
}

const SIGNS = { passed: '✓', failed: '✗', blocked: '!', skipped: '-' };
const COLOURS = { passed: 'green', failed: 'red', blocked: 'yellow', skipped: 'dim' } as const;

function line({ id, title, outcome, durationMs }: CaseResult, terminal: Terminal): string {
  const sign = paint(terminal, COLOURS[outcome.kind], SIGNS[outcome.kind]);
  const head = `${sign} ${title} ${paint(terminal, 'dim', `(${id}, ${durationMs} ms)`)}`;
  if (outcome.kind === 'passed') return head;
  if (outcome.kind === 'skipped') return `${head}\n    skipped   ${outcome.why}`;
  return `${head}\n    expected  ${outcome.expected}\n    received  ${outcome.received}`;
}

function summary({ results }: Run, isWhole: boolean): string {
  const { passed, failed, blocked, skipped } = counts(results);
  const sum = `\n${passed} passed, ${failed} failed, ${blocked} blocked by a failure, ${skipped} skipped`;
  if (failed + blocked > 0) return `${sum}\nThe integration is not certified.`;
  if (!isWhole) return sum;
  return isCertified(results)
    ? `${sum}\nThe integration is certified.`
    : `${sum}\nThe integration is certified but for what was skipped.`;
}

async function write(path: string, report: string): Promise<void> {
  try {
    await writeFile(path, report);
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}`);
  }
}
