import { mkdir } from 'node:fs/promises';
import { type Exchange, expectation, PlatformClient } from './platform-client.js';
import type { CounterpartServer } from './counterpart.server.js';
import { faultsOf } from './faults/faults.js';
import { OperatorWalletServer } from './operator-wallet.server.js';
import { ProviderServer } from './provider.server.js';
import { readSandboxFile, sandboxFileIn, type SandboxFile, writeSandboxFile } from './sandbox-file.js';

const PROVIDER_ID = 'sandbox-provider';
const OPERATOR_ID = 'sandbox-operator';
/** The page of a round, on a server that does not exist. */
const ROUND_DETAILS_URL = 'https://games.example/rounds/{roundId}?player={playerRef}';
const GAMES = { 'sandbox-slots': 'Sandbox Slots', 'sandbox-roulette': 'Sandbox Roulette' };

interface SandboxOptions {
  /** The address of the running platform, without a trailing slash. */
  apiUrl: string;
  adminApiKey: string;
  /** The sandbox's folder, next to the database. Its journals and `sandbox.json` match only that database. */
  folder: string;
  /** The preferred ports; if one is taken, any free port is used instead. */
  walletPort: number;
  providerPort: number;
  log: (message: string) => void;
}

export interface Sandbox {
  readonly file: SandboxFile;
  /** What the wallet can do wrong in a BET. */
  readonly walletFaults: readonly { readonly name: string; readonly does: string }[];
  /** A summary for people: the addresses, the tenants with their secrets, and the admin key. */
  summary(): string;
  /** Closes both servers. Stop the platform first, so that its last calls are still answered. */
  stop(): Promise<void>;
}

/**
 * Starts an operator's wallet and a provider beside a running platform, and registers them through its admin API.
 * Tenants of an earlier start get the current addresses.
 * @throws Error with a readable message if the admin API refuses; both servers are then stopped
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, log } = options;
  await mkdir(folder, { recursive: true });
  const wallet = await OperatorWalletServer.start({
    tenantId: OPERATOR_ID,
    folder,
    port: options.walletPort,
    portName: 'PORT+1',
    log,
  });
  const counterparts: { stop(): Promise<void> }[] = [wallet];
  try {
    const provider = await ProviderServer.start({
      tenantId: PROVIDER_ID,
      folder,
      port: options.providerPort,
      portName: 'PORT+2',
      log,
    });
    counterparts.push(provider);
    const file = await register(options, wallet, provider);
    return {
      file,
      walletFaults: faultsOf('BET'),
      summary: () => summary(file, sandboxFileIn(folder)),
      stop: () => stopAll(counterparts),
    };
  } catch (error) {
    await stopAll(counterparts);
    throw error;
  }
}

async function register(
  { apiUrl, adminApiKey, folder, log }: SandboxOptions,
  wallet: CounterpartServer,
  provider: CounterpartServer,
): Promise<SandboxFile> {
  const path = sandboxFileIn(folder);
  const known = await readSandboxFile(path);
  // The platform may already call the wallet, to decide transactions that an earlier run left undecided.
  if (known) wallet.trust(known.operator.secret);
  if (known) provider.trust(known.provider.secret);

  const platform = new PlatformClient(apiUrl);
  const admin = (method: string, route: string, body?: object) =>
    platform.asAdmin(adminApiKey, method, `/v1/admin/${route}`, body);

  /**
   * Creates a tenant, or updates the existing one's address, and returns its secret. A secret that was lost, or that
   * the platform no longer accepts, is replaced by a new one.
   */
  const seedTenant = async (
    collection: string,
    { id, ...fields }: { id: string; name: string },
    address: object,
    { secret, signedRoute }: { secret: string | undefined; signedRoute: string },
  ): Promise<string> => {
    const moved = await admin('PATCH', `${collection}/${id}`, address);
    if (moved.status === 404) {
      const created = await admin('POST', collection, { id, ...fields, ...address, status: 'ACTIVE' });
      return secretIn(expectStatus(created, 201));
    }
    expectStatus(moved, 200);
    if (secret !== undefined) {
      // The platform refuses every signature of a disabled tenant, so the secret cannot be checked, and is kept.
      if (moved.json['status'] === 'DISABLED') return secret;
      // The platform checks the signature before the body, so an empty object gets a 401 only if the signature is invalid.
      const { status } = await platform.signed({ id, secret }, signedRoute, {});
      if (status !== 401) return secret;
    }
    log(`${id}: its secret is missing or no longer valid, so it gets a new one`);
    const rotated = await admin('POST', `${collection}/${id}/secret/rotate`, { overlapSeconds: 0 });
    return secretIn(expectStatus(rotated, 200));
  };

  const providerSecret = await seedTenant(
    'providers',
    { id: PROVIDER_ID, name: 'Sandbox Provider' },
    { webhookBaseUrl: provider.baseUrl },
    { secret: known?.provider.secret, signedRoute: '/v1/wallet/session/verify' },
  );
  provider.trust(providerSecret);
  const operatorSecret = await seedTenant(
    'operators',
    { id: OPERATOR_ID, name: 'Sandbox Operator' },
    { walletBaseUrl: wallet.baseUrl },
    { secret: known?.operator.secret, signedRoute: '/v1/operator/sessions' },
  );
  wallet.trust(operatorSecret);
  for (const [gameId, name] of Object.entries(GAMES)) {
    const { status } = expectStatus(await admin('GET', `games/${gameId}`), 200, 404);
    const game = { providerId: PROVIDER_ID, name, status: 'ACTIVE', roundDetailsUrl: ROUND_DETAILS_URL };
    if (status === 404) expectStatus(await admin('PUT', `games/${gameId}`, game), 200);
  }

  const file: SandboxFile = {
    apiUrl,
    docsUrl: `${apiUrl}/docs`,
    walletUrl: wallet.baseUrl,
    providerUrl: provider.baseUrl,
    adminApiKey,
    provider: { id: PROVIDER_ID, secret: providerSecret },
    operator: { id: OPERATOR_ID, secret: operatorSecret },
    games: Object.keys(GAMES),
  };
  await writeSandboxFile(path, file);
  return file;
}

const expectStatus = expectation('the sandbox could not be seeded');

function secretIn({ method, path, json }: Exchange): string {
  const secret = json['secret'];
  if (typeof secret === 'string') return secret;
  throw new Error(`the sandbox could not be seeded: ${method} ${path} answered without a secret`);
}

/**
 * Stops all counterparts, even if one cannot be stopped.
 * @throws the first failure
 */
async function stopAll(counterparts: readonly { stop(): Promise<void> }[]): Promise<void> {
  const results = await Promise.allSettled(counterparts.map((counterpart) => counterpart.stop()));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

function summary(file: SandboxFile, path: string): string {
  const { apiUrl, docsUrl, walletUrl, providerUrl, provider, operator } = file;
  return [
    'Croupier is running, with a sandbox beside it. The sandbox uses play money only.',
    '',
    `  Console      ${apiUrl}/console  (sign in with the admin key)`,
    `  API          ${apiUrl}`,
    `  Swagger      ${docsUrl}  (by audience: ${docsUrl}/provider, /operator, /admin)`,
    `  Wallet       ${walletUrl}  (the sandbox operator's)`,
    `  Callbacks    ${providerUrl}  (the sandbox provider's)`,
    `  Faults       ${new URL(walletUrl).origin}/docs and ${new URL(providerUrl).origin}/docs  (both misbehave on request)`,
    '',
    `  Provider     ${provider.id}  secret ${provider.secret}`,
    `  Operator     ${operator.id}  secret ${operator.secret}`,
    `  Games        ${file.games.join(', ')}`,
    `  Admin key    ${file.adminApiKey}`,
    '',
    `  All of this is stored in ${path}`,
    '  Play a round over real HTTP: npm run round; with counterparts that misbehave: npm run round -- --faults',
  ].join('\n');
}
