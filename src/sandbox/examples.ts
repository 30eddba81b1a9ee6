import type { GeneratedIds } from '../openapi/examples.js';
import { Clock } from '../runtime/clock.js';
import { type Exchange, expectation, PlatformClient } from './platform-client.js';
import type { SandboxFile } from './sandbox-file.js';

/** Tenants that the examples may pause or change. Nothing listens at their addresses. */
const OPERATOR = { id: 'example-casino', name: 'Example Casino', walletBaseUrl: 'http://127.0.0.1:9/wallet' };
const PROVIDER = { id: 'acme-games', name: 'Acme Games', webhookBaseUrl: 'http://127.0.0.1:9/rgs' };
const PLAYER = { playerRef: 'player-42', gameId: 'sandbox-slots', currency: 'EUR' };
const OTHER_PLAYER = { ...PLAYER, playerRef: 'player-43' };
const SPINS = { gameId: PLAYER.gameId, spins: 10, betAmountMinor: 20, currency: PLAYER.currency };
/**
 * ISO 4217's currency code for tests. A limit in it does not affect the currencies that people use in the sandbox.
 */
const LIMITED_CURRENCY = 'XTS';

/**
 * Creates the objects that the examples in the OpenAPI documents name, so that a page can send the examples unchanged.
 * Objects of an earlier start are kept. Sessions are launched again, because they may have ended.
 * @returns the ids that the platform has generated for the objects
 * @throws Error with a readable message if the platform refuses
 */
export async function createExamples(sandbox: SandboxFile): Promise<GeneratedIds> {
  const { adminApiKey, operator, provider } = sandbox;
  const platform = new PlatformClient(sandbox.apiUrl);
  const admin = (method: string, path: string, body?: object) =>
    platform.asAdmin(adminApiKey, method, `/v1/admin/${path}`, body);

  const createConfiguration = async () => {
    expectStatus(await admin('POST', 'operators', OPERATOR), 201, 409);
    expectStatus(await admin('POST', 'providers', PROVIDER), 201, 409);
    const game = { providerId: provider.id, name: 'Book of Examples' };
    expectStatus(await admin('PUT', 'games/book-of-examples', game), 200);
    // A limit that somebody has lowered since the last start stays: raising it waits for an approval.
    expectStatus(await admin('PUT', `limits/${OPERATOR.id}/EUR`, { maxGrantMinor: 10_000 }), 200, 202, 409);
  };
  const launch = async (player: object) =>
    expectStatus(await platform.signed(operator, '/v1/operator/sessions', player), 201).json;
  const bookTransactions = async (sessionToken: string) => {
    const bet = { kind: 'BET', transactionId: 'bet-1001', roundId: 'round-7', amountMinor: 250 };
    const body = { sessionToken, ...PLAYER, ...bet };
    expectStatus(await platform.signed(provider, '/v1/wallet/transaction', body), 200);
    const { playerRef, currency } = PLAYER;
    const account = { operatorId: operator.id, playerRef, currency };
    const reason = 'refund of a disputed round, ticket 4711';
    const adjustment = { adjustmentId: 'adjustment-4711', ...account, amountMinor: 250, reason };
    expectStatus(await admin('POST', 'adjustments', adjustment), 200, 201);
  };
  const grantFreeSpins = async () => {
    const spins = { ...SPINS, operatorId: operator.id };
    const grant = { ...spins, requestRef: 'summer-2026-player-42', playerRef: PLAYER.playerRef };
    expectStatus(await admin('POST', 'free-spins', grant), 200, 201);
    const playerRefs = [PLAYER.playerRef, OTHER_PLAYER.playerRef];
    const batch = { ...spins, batchRef: 'summer-2026', playerRefs };
    return expectStatus(await admin('POST', 'free-spins/batches', batch), 200, 202).json;
  };
  const findApproval = async () => {
    const waiting = itemsIn(await admin('GET', 'approvals?state=WAITING'));
    return (
      waiting.find(({ operatorId, kind }) => operatorId === operator.id && kind === 'grant') ??
      (await requestApproval())
    );
  };
  const requestApproval = async () => {
    expectStatus(await admin('PUT', `limits/${operator.id}/${LIMITED_CURRENCY}`, { maxGrantMinor: 1 }), 200);
    const requestRef = `above-limit-${new Clock().unixSeconds()}`;
    const grant = { ...SPINS, requestRef, playerRef: PLAYER.playerRef, currency: LIMITED_CURRENCY };
    return expectStatus(await platform.signed(operator, '/v1/operator/free-spins', grant), 202).json;
  };

  await createConfiguration();
  const sessionToken = String((await launch(PLAYER))['sessionToken']);
  await bookTransactions(sessionToken);
  const batchId = String((await grantFreeSpins())['batchId']);
  const approvalId = String((await findApproval())['approvalId']);
  const [callback] = itemsIn(await admin('GET', 'callbacks?limit=1'));
  const sessionId = String((await launch(OTHER_PLAYER))['sessionId']);
  return {
    sessionToken,
    sessionId,
    batchId,
    approvalId,
    callbackId: Number(callback!['callbackId']).toString(),
  };
}

const expectStatus = expectation('the examples could not be created');

function itemsIn(exchange: Exchange): Readonly<Record<string, unknown>>[] {
  return expectStatus(exchange, 200).json['items'] as Record<string, unknown>[];
}
