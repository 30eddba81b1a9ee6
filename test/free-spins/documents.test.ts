import { expect, test } from 'vitest';
import { CANCEL, GRANT, REVOKE, STATUS } from '../world/provider.js';
import { useWorld } from '../world/world.js';

const world = useWorld({ DOCS_ENABLED: 'true' });

type Callbacks = Record<
  string,
  { post: { requestBody: { content: Record<string, { schema: { $ref: string } }> } } }
>;

const webhooks = async (path: string) =>
  (await world.request(path)).json['webhooks'] as Callbacks | undefined;

test("the provider's document has the four callbacks with the fields that are actually sent", async () => {
  const session = await world.launch();
  await world.revoke(session.sessionId);
  const { json } = await world.admin('POST', '/v1/admin/free-spins', {
    operatorId: 'lucky-casino',
    playerRef: 'ann',
    gameId: session.gameId,
    spins: 1,
    betAmountMinor: 0,
    currency: 'EUR',
  });
  for (const action of ['status', 'cancel']) {
    await world.admin('POST', `/v1/admin/free-spins/${String(json['requestRef'])}/${action}`);
  }
  for (const path of ['/docs-json', '/docs/provider-json']) {
    const { schemas } = (await world.request(path)).json['components'] as {
      schemas: Record<string, { required: string[] }>;
    };
    const documented = (await webhooks(path)) ?? {};
    expect(Object.keys(documented)).toEqual(expect.arrayContaining([GRANT, STATUS, CANCEL, REVOKE]));
    for (const route of [GRANT, STATUS, CANCEL, REVOKE]) {
      const { post } = documented[route]!;
      const [call] = world.provider.calls(route);
      const { schema } = post.requestBody.content['application/json']!;
      const { required } = schemas[schema.$ref.split('/').at(-1)!]!;
      expect([...required].sort()).toEqual(Object.keys(call?.json ?? {}).sort());
    }
  }
});

test('the documents of other audiences do not have them', async () => {
  const addresses = Object.keys((await webhooks('/docs/operator-json')) ?? {});
  expect(addresses.filter((address) => address.startsWith('/v1/game'))).toEqual([]);
  expect(await webhooks('/docs/admin-json')).toBeUndefined();
});
