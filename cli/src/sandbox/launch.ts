import { visibleText } from '@croupier/provider-sdk';
import { parseArgs } from 'node:util';
import { currencyOption, EXIT, type Terminal, UsageError } from '../terminal.js';
import { visibleJson } from '../visible.js';
import { callAsOperator, expectStatus, readSandbox, SANDBOX_OPTION_HELP } from './sandbox.js';

export const LAUNCH_HELP = `croupier-provider launch [options]

Launches a session of a sandbox platform on this machine, as its operator would, and prints the
token that your game would be opened with.

  --game ID                default: my-game
  --player REF             default: player-1
  --currency CODE          default: EUR
  --demo                   a DEMO session, which reaches no operator
  --json                   prints the platform's answer as JSON
${SANDBOX_OPTION_HELP}

Exit status: 0 launched, 2 the command cannot be carried out.`;

const OPTIONS = {
  game: { type: 'string', default: 'my-game' },
  player: { type: 'string', default: 'player-1' },
  currency: { type: 'string', default: 'EUR' },
  demo: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  sandbox: { type: 'string' },
} as const;

/** @throws UsageError, or what parseArgs throws, if the command cannot be carried out */
export async function launch(args: string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  const sandbox = await readSandbox(values.sandbox);
  const session = {
    playerRef: values.player,
    gameId: values.game,
    currency: currencyOption(values.currency),
    mode: values.demo ? 'DEMO' : 'REAL',
  };
  const answer = await callAsOperator(sandbox, '/v1/operator/sessions', session, terminal.now());
  if (answer.status === 503)
    throw new UsageError(
      `The platform answered 503 ${answer.text}. If there is no game ${values.game}, create it with register --game. If it is disabled, enable it in the console.`,
    );
  const { json } = expectStatus(answer, 201);
  if (values.json) {
    terminal.print(visibleJson(json));
    return EXIT.ok;
  }
  const shown = (field: string) => visibleText(String(json[field]));
  terminal.print(`A session of ${values.player} in ${values.game}, until ${shown('expiresAt')}:\n`);
  terminal.print(`  sessionToken  ${shown('sessionToken')}\n`);
  terminal.print(`In the game: new ProviderClient({ baseUrl: '${visibleText(sandbox.apiUrl)}', tenantId: '${shown('providerId')}', secret }),
then verifySession({ sessionToken }), bet(…), win(…).`);
  return EXIT.ok;
}
