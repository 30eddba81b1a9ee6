import { PLAY_ROUTE, visibleText } from '@croupier/provider-sdk';
import { parseArgs } from 'node:util';
import { addressOption, EXIT, type Terminal, UsageError } from '../terminal.js';
import { callAsAdmin, expectStatus, readSandbox, SANDBOX_OPTION_HELP } from './sandbox.js';

export const REGISTER_HELP = `croupier-provider register --webhook-base-url URL [options]

Registers your server and a game with a sandbox platform on this machine, and prints the secret
that signs your calls. If the provider is already registered, its address is replaced;
an existing game is left unchanged.

  --webhook-base-url URL   where your server receives the callbacks
  --tenant ID              your tenant identifier; default: my-provider
  --game ID                the game to create; default: my-game
  --new-secret             replaces the secret of a provider that is already registered
${SANDBOX_OPTION_HELP}

Exit status: 0 registered, 2 the command cannot be carried out.`;

const OPTIONS = {
  'webhook-base-url': { type: 'string' },
  tenant: { type: 'string', default: 'my-provider' },
  game: { type: 'string', default: 'my-game' },
  'new-secret': { type: 'boolean', default: false },
  sandbox: { type: 'string' },
} as const;

/** @throws UsageError, or what parseArgs throws, if the command cannot be carried out */
export async function register(args: string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  const webhookBaseUrl = addressOption('webhook-base-url', values['webhook-base-url']).href.replace(
    /\/$/,
    '',
  );
  const { tenant: id, game } = values;
  const sandbox = await readSandbox(values.sandbox);
  const gamePath = `/v1/admin/games/${encodeURIComponent(game)}`;
  const found = expectStatus(await callAsAdmin(sandbox, 'GET', gamePath), 200, 404);
  if (found.status === 200 && found.json['providerId'] !== id)
    throw new UsageError(
      `The game ${game} belongs to ${String(found.json['providerId'])}: choose another with --game.`,
    );
  const providers = '/v1/admin/providers';
  const created = expectStatus(
    await callAsAdmin(sandbox, 'POST', providers, { id, name: id, webhookBaseUrl, status: 'ACTIVE' }),
    201,
    409,
  );
  let { secret } = created.json;
  if (created.status === 409) {
    expectStatus(await callAsAdmin(sandbox, 'PATCH', `${providers}/${id}`, { webhookBaseUrl }), 200);
    if (values['new-secret']) {
      const rotation = callAsAdmin(sandbox, 'POST', `${providers}/${id}/secret/rotate`, {
        overlapSeconds: 0,
      });
      ({ secret } = expectStatus(await rotation, 200).json);
    }
  }
  // A PUT would erase what else a game has, such as its launchUrl.
  if (found.status === 404) {
    const settings = { providerId: id, name: game, status: 'ACTIVE' };
    expectStatus(await callAsAdmin(sandbox, 'PUT', gamePath, settings), 200, 201);
  }

  terminal.print(
    `${id} is registered with ${visibleText(sandbox.apiUrl)} at ${webhookBaseUrl}, with the game ${game}.\n`,
  );
  terminal.print(
    typeof secret === 'string'
      ? `  export CROUPIER_SECRET='${visibleText(secret)}'\n`
      : '  It was already registered, and its secret is unchanged; --new-secret replaces it.\n',
  );
  const sandboxOption = values.sandbox === undefined ? '' : ` --sandbox '${values.sandbox}'`;
  terminal.print(`Then:
  npx @croupier/cli certify --webhook-base-url ${webhookBaseUrl} --tenant ${id} --game-id ${game} --play-path ${PLAY_ROUTE}
  npx @croupier/cli launch --game ${game}${sandboxOption}

--play-path names the route that plays a spin, for tests only: the SDK's handler serves it with onPlay.
Without such a route, leave the option out; certify then skips the cases that need a spin.`);
  return EXIT.ok;
}
