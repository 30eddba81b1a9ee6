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
import { WalletCaller, type WalletUnderTest } from './caller.js';
import { WALLET_CASES } from './cases.js';

export const CERTIFY_OPERATOR_HELP = `croupier-provider certify-operator --url URL --tenant ID --player REF [options]

Runs every case of the wallet contract against an operator's wallet, as the platform would call
it. Run it against a test environment: it moves the money of the players that you name, and sets
their balances with ADJUSTMENTs of the provider "platform". The operator's secret is taken from
CROUPIER_SECRET.

  --url URL                the wallet's base address as it is registered with the platform;
                           /transaction and /balance are below it
  --tenant ID              the operator's tenant identifier
  --player REF             a player with an account in this currency
  --other-player REF       another one; without it the cases about two players are skipped
  --unknown-player REF     one that the wallet does not know; without it the cases about such a player
                           are skipped
  --currency CODE          default: EUR
  --other-currency CODE    a currency in which the player has another account; without it the cases
                           about two currencies are skipped
  --stake-minor N          the amount of most BETs in minor units; default: 107
  --provider-id ID         in whose name bets are sent; default: certify-provider
  --game-id ID             default: certify-game
  --calls N                how many calls measure the latency; default: 500
  --timeout-ms N           the platform's time-out for one call; default: 5000
  --slow-ms N              how long a slow body pauses; default: 500
  --patience-seconds N     the first transactions are repeated at the end, at least so many seconds
                           after they were first sent; default: 5
  --restart-command LINE   a command line for the shell that restarts the wallet, and ends when this
                           is done; without it nothing is restarted, and the certificate says that
                           restarts were not tested
${CERTIFICATION_HELP}`;

const OPTIONS = {
  url: { type: 'string' },
  tenant: { type: 'string' },
  player: { type: 'string' },
  'other-player': { type: 'string' },
  'unknown-player': { type: 'string' },
  currency: { type: 'string', default: 'EUR' },
  'other-currency': { type: 'string' },
  'stake-minor': { type: 'string', default: '107' },
  'provider-id': { type: 'string', default: 'certify-provider' },
  'game-id': { type: 'string', default: 'certify-game' },
  calls: { type: 'string', default: '500' },
  'timeout-ms': { type: 'string', default: '5000' },
  'slow-ms': { type: 'string', default: '500' },
  'patience-seconds': { type: 'string', default: '5' },
  'restart-command': { type: 'string' },
  ...CERTIFICATION_OPTIONS,
} as const;

/** A wallet keeps an idle connection for at least 5 seconds. A little less, because timers are not exact. */
const IDLE_MS = 4_700;

/** @throws UsageError, or what parseArgs throws, if the command cannot be carried out */
export async function certifyOperator(args: string[], terminal: Terminal): Promise<number> {
  const values = parse(args);
  const certification = { name: 'certify-operator', cases: WALLET_CASES, options: OPTIONS } as const;
  return certifyWith(certification, values, terminal, async () => {
    const wallet = walletIn(values, secretFrom(terminal), terminal.idleMs);
    const tested = new WalletCaller(wallet, terminal.now);
    await tested.calls.reach();
    return { tested, tenantId: wallet.tenantId, url: wallet.baseUrl.href };
  });
}

function parse(args: string[]) {
  return parseArgs({ args, options: OPTIONS }).values;
}

function walletIn(
  values: ReturnType<typeof parse>,
  secret: string,
  idleMs: number = IDLE_MS,
): WalletUnderTest {
  checkDifferent(values);
  return {
    baseUrl: addressOption('url', values.url),
    tenantId: requiredOption('tenant', values.tenant),
    secret,
    playerRef: requiredOption('player', values.player),
    otherPlayerRef: values['other-player'],
    unknownPlayerRef: values['unknown-player'],
    currency: currencyOption(values.currency),
    otherCurrency:
      values['other-currency'] === undefined
        ? undefined
        : currencyOption(values['other-currency'], 'other-currency'),
    providerId: values['provider-id'],
    gameId: values['game-id'],
    stakeMinor: amountOption('stake-minor', values['stake-minor'], 1),
    latencyCalls: latencyCallsOption(values.calls),
    timeoutMs: millisecondsOption('timeout-ms', values['timeout-ms'], 1),
    slowMs: millisecondsOption('slow-ms', values['slow-ms'], 0),
    patienceMs: patienceOption(values['patience-seconds']),
    restartCommand: values['restart-command'],
    idleMs,
  };
}

/** Options that must not have the same value. */
const DIFFERENT = [
  ['other-player', 'player'],
  ['unknown-player', 'player'],
  ['unknown-player', 'other-player'],
  ['other-currency', 'currency'],
] as const;

/** @throws UsageError if an option names the same player or currency as another */
function checkDifferent(values: ReturnType<typeof parse>): void {
  for (const [one, other] of DIFFERENT) {
    if (values[one] !== undefined && values[one] === values[other])
      throw new UsageError(`--${one} must differ from --${other}.`);
  }
}
