import { parseArgs } from 'node:util';
import {
  addressOption,
  amountOption,
  currencyOption,
  latencyCallsOption,
  millisecondsOption,
  patienceOption,
  requiredOption,
  secretFrom,
  type Terminal,
  UsageError,
} from '../../terminal.js';
import { CERTIFICATION_HELP, CERTIFICATION_OPTIONS, certifyWith } from '../certification.js';
import { ProviderCaller, type ProviderUnderTest } from './caller.js';
import { PROVIDER_CASES } from './cases.js';

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
  --calls N                how many calls measure the latency; default: 100
  --patience-seconds N     how old the first calls are when the last cases repeat them; default: 5
  --timeout-ms N           for one call; default: 10000, as the platform's
  --slow-ms N              how long a slow body pauses; default: 500
${CERTIFICATION_HELP}`;

const OPTIONS = {
  'webhook-base-url': { type: 'string' },
  tenant: { type: 'string' },
  'player-ref': { type: 'string', default: 'certify-player' },
  'game-id': { type: 'string', default: 'certify-game' },
  currency: { type: 'string', default: 'EUR' },
  'bet-amount-minor': { type: 'string', default: '20' },
  'play-path': { type: 'string' },
  calls: { type: 'string', default: '100' },
  'patience-seconds': { type: 'string', default: '5' },
  'timeout-ms': { type: 'string', default: '10000' },
  'slow-ms': { type: 'string', default: '500' },
  ...CERTIFICATION_OPTIONS,
} as const;

type Values = ReturnType<typeof parse>;

/** @throws UsageError, or what parseArgs throws, if the command cannot be carried out */
export async function certify(args: string[], terminal: Terminal): Promise<number> {
  const values = parse(args);
  const certification = { name: 'certify', cases: PROVIDER_CASES, options: OPTIONS } as const;
  return certifyWith(certification, values, terminal, async () => {
    const provider = providerIn(values, secretFrom(terminal));
    const tested = new ProviderCaller(provider, terminal.now);
    await tested.calls.reach();
    return { tested, tenantId: provider.tenantId, url: provider.baseUrl.href };
  });
}

function parse(args: string[]) {
  return parseArgs({ args, options: OPTIONS }).values;
}

function providerIn(values: Values, secret: string): ProviderUnderTest {
  const playPath = values['play-path'];
  if (playPath !== undefined && !playPath.startsWith('/'))
    throw new UsageError('--play-path begins with a slash.');
  return {
    baseUrl: addressOption('webhook-base-url', values['webhook-base-url']),
    tenantId: requiredOption('tenant', values.tenant),
    secret,
    playerRef: values['player-ref'],
    gameId: values['game-id'],
    currency: currencyOption(values.currency),
    betAmountMinor: amountOption('bet-amount-minor', values['bet-amount-minor'], 0),
    playPath,
    latencyCalls: latencyCallsOption(values.calls),
    patienceMs: patienceOption(values['patience-seconds']),
    timeoutMs: millisecondsOption('timeout-ms', values['timeout-ms'], 1),
    slowMs: millisecondsOption('slow-ms', values['slow-ms'], 0),
  };
}
