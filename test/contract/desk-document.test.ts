import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { letPass, parked } from '../desk/desk.js';
import { Tool } from '../free-spins/tool.js';
import { type TransactionBody, Transactions } from '../world/transactions.js';
import {
  GAME,
  type LaunchedSession,
  OPERATOR,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  type Reply,
  useWorld,
} from '../world/world.js';
import { documentedRows } from './document.js';

let session: LaunchedSession;

const world = useWorld();
const tool = new Tool(world);
const transactions = new Transactions(world);
beforeAll(async () => {
  session = await world.launch();
});

describe('section 9, the table of advice', () => {
  /** Ends what the scenario left under way. */
  let after: () => void = () => undefined;
  const bet = () => world.transaction(session, 'BET');
  const path = ({ transactionId }: TransactionBody) =>
    `/v1/admin/transactions/${PROVIDER}/${encodeURIComponent(transactionId)}`;

  test.each(
    documentedRows<() => Promise<TransactionBody>>('advice', {
      'is parked': () => parked(world, bet()),
      'is `TIMED_OUT`, its last attempt less than a minute ago': () => transactions.timedOut(bet()),
      'is `PENDING`, its lease not expired': async () => {
        const body = bet();
        const { release } = await transactions.pending(body);
        after = release;
        return body;
      },
      'is `TIMED_OUT`, its last attempt a minute ago or longer': async () => {
        const body = await transactions.timedOut(bet());
        await letPass(world, body.transactionId, 60);
        return body;
      },
      'is decided, and the provider last received a 500 for it': async () => {
        const body = await transactions.timedOut(world.transaction(session, 'WIN'));
        expect((await world.admin('POST', `${path(body)}/resolve`)).status).toBe(200);
        return body;
      },
      'is decided': () => transactions.approved(bet()),
    }),
  )('$row.0: $row.1', async ({ row, scenario }) => {
    const { json } = await world.admin('GET', path(await scenario()));
    after();
    expect(`\`${(json['advice'] as { action: string }).action}\``).toBe(row[1]);
  });
});

describe('section 6, the table of cases', () => {
  type Ref = { readonly requestRef: string };
  /** Sets the provider's answer to the next callback about a grant. */
  const answering = (requestRef: string, status: number, body?: object) =>
    world.provider.next({ do: 'answer', status, ...(body && { body }) }, { requestRef });
  const failingBatch = (requestRef: string) =>
    world.provider.next({ do: 'answer', status: 503 }, { externalRef: `batch-of-${requestRef}` });
  const granted = () => tool.granted();
  const cancelled = async () => {
    const grant = await granted();
    expect((await tool.act(grant.requestRef, 'cancel')).status).toBe(200);
    return grant;
  };
  /** @param status 422: not granted; 202: its outcome is unknown */
  const failed = async (status = 422, fields: Record<string, unknown> = {}) => {
    const order = tool.order(fields);
    answering(order.requestRef, status);
    expect((await tool.post(order)).status).toBe(502);
    return order;
  };
  const act =
    async ({ requestRef }: Ref, action: string) =>
    () =>
      post(`${requestRef}/${action}`);
  const post = (action: string) => world.admin('POST', `/v1/admin/free-spins/${action}`);
  const batch = (fields: object = {}) => ({
    operatorId: OPERATOR,
    gameId: GAME,
    spins: 5,
    betAmountMinor: 20,
    currency: 'EUR',
    playerRefs: [`player-${randomUUID()}`],
    batchRef: `batch-${randomUUID()}`,
    ...fields,
  });
  const postBatch = (body: object) => world.admin('POST', '/v1/admin/free-spins/batches', body);
  const twice = async (second: (body: ReturnType<typeof batch>) => object) => {
    const body = batch();
    const { json } = await postBatch(body);
    const path = `/v1/admin/free-spins/batches/${String(json['batchId'])}?items=false`;
    await expect.poll(async () => (await world.admin('GET', path)).json['granted']).toBe(1);
    return () => postBatch(second(body));
  };
  const grant = (fields: Record<string, unknown> = {}) => {
    const order = tool.order(fields);
    return { order, call: () => tool.post(order) };
  };

  /** Each prepares a grant or batch, and returns the call of the row. */
  const scenarios: Record<string, Record<string, () => Promise<() => Promise<Reply>>>> = {
    grant: {
      'is new': () => Promise.resolve(grant().call),
      'is new, and the provider answers 422': () => {
        const { order, call } = grant();
        answering(order.requestRef, 422);
        return Promise.resolve(call);
      },
      'is new, and the provider answers 200 without `externalRef`': () => {
        const { order, call } = grant();
        answering(order.requestRef, 200, {});
        return Promise.resolve(call);
      },
      'is new, and the provider answers 200 with an `externalRef` of 257 characters': () => {
        const { order, call } = grant();
        answering(order.requestRef, 200, { externalRef: 'x'.repeat(257) });
        return Promise.resolve(call);
      },
      'is new, and the provider answers with the `externalRef` of a `GRANTED` grant of that player':
        async () => {
          const { playerRef, externalRef } = await granted();
          const { order, call } = grant({ playerRef });
          answering(order.requestRef, 200, { externalRef });
          return call;
        },
      'has the same `requestRef` and body': async () => {
        const { call } = grant();
        await call();
        return call;
      },
      'has the same `requestRef` and body, and is `FAILED`': async () => {
        const order = await failed();
        return () => tool.post(order);
      },
      'has the same `requestRef` and another body': async () => {
        const { order, call } = grant();
        await call();
        return () => tool.post({ ...order, spins: 6 });
      },
      "has the `requestRef` of another operator's grant": async () => {
        const { order, call } = grant();
        await call();
        return () => tool.post({ ...order, operatorId: OTHER_OPERATOR });
      },
      'has an `expiresAt` less than a minute ahead': () =>
        Promise.resolve(grant({ expiresAt: new Date(Date.now() + 30_000).toISOString() }).call),
      'has 1001 spins': () => Promise.resolve(grant({ spins: 1001 }).call),
      'names a disabled game': async () => {
        const game = { providerId: PROVIDER, name: 'disabled', status: 'DISABLED' };
        await world.admin('PUT', '/v1/admin/games/disabled-game', game);
        return grant({ gameId: 'disabled-game' }).call;
      },
    },
    status: {
      'is `GRANTED`': async () => act(await granted(), 'status'),
      'is `CANCELLED`': async () => act(await cancelled(), 'status'),
      'is `FAILED`': async () => act(await failed(), 'status'),
      'is `GRANTED`, and the provider answers 503': async () => {
        const stored = await granted();
        failingBatch(stored.requestRef);
        return act(stored, 'status');
      },
    },
    cancel: {
      'is `GRANTED`': async () => act(await granted(), 'cancel'),
      'is `CANCELLED`': async () => act(await cancelled(), 'cancel'),
      'is `FAILED`': async () => act(await failed(), 'cancel'),
      'is `GRANTED`, and the provider answers 503': async () => {
        const stored = await granted();
        failingBatch(stored.requestRef);
        return act(stored, 'cancel');
      },
      'is `GRANTED`, and a newer grant has its `externalRef`': async () => {
        const first = await granted();
        const { externalRef, playerRef, requestRef } = first;
        const completed = { remainingSpins: 0, completed: true };
        world.provider.next(
          { do: 'answer', status: 200, body: completed },
          { externalRef: String(externalRef) },
        );
        expect((await tool.act(requestRef, 'status')).status).toBe(200);
        const { order, call } = grant({ playerRef });
        answering(order.requestRef, 200, { externalRef });
        expect((await call()).status).toBe(201);
        return act(first, 'cancel');
      },
    },
    resend: {
      'is `FAILED`': async () => act(await failed(), 'resend'),
      'is `GRANTED`': async () => act(await granted(), 'resend'),
      'is `FAILED`, and its `expiresAt` has passed': async () => {
        const order = await failed();
        await world.sql.run(
          'UPDATE free_spin_grants SET expires_at = clock_timestamp() WHERE request_ref = $1',
          [order.requestRef],
        );
        return act(order, 'resend');
      },
      'is `FAILED`, and its game has moved to another provider': async () => {
        const game = (providerId: string) =>
          world.admin('PUT', '/v1/admin/games/moving-game', { providerId, name: 'moving' });
        expect((await game(PROVIDER)).status).toBe(200);
        const order = await failed(422, { gameId: 'moving-game' });
        expect((await game(OTHER_PROVIDER)).status).toBe(200);
        return act(order, 'resend');
      },
      'is `FAILED`, and the provider answers 422': async () => {
        const order = await failed();
        answering(order.requestRef, 422);
        return act(order, 'resend');
      },
    },
    void: {
      'is `FAILED` with `outcomeUnknown`': async () => act(await failed(202), 'void'),
      'is `FAILED` without `outcomeUnknown`': async () => act(await failed(), 'void'),
      'is `CANCELLED`': async () => act(await cancelled(), 'void'),
      'is `GRANTED`': async () => act(await granted(), 'void'),
    },
    any: {
      'belongs to an operator other than the caller': async () => {
        const { requestRef } = await granted();
        return () => world.signed(OTHER_OPERATOR, `/v1/operator/free-spins/${requestRef}/cancel`, '');
      },
    },
    batch: {
      'is new': () => Promise.resolve(() => postBatch(batch())),
      'has the same `batchRef` and body': () => twice((body) => body),
      'has the same `batchRef` and another body': () => twice((body) => ({ ...body, spins: 6 })),
      "has the `batchRef` of another operator's batch": () =>
        twice((body) => ({ ...body, operatorId: OTHER_OPERATOR })),
      'has the same player twice': () =>
        Promise.resolve(() => postBatch(batch({ playerRefs: ['player-1', 'player-1'] }))),
    },
  };
  const rows = Object.entries(scenarios).flatMap(([call, byGrant]) =>
    Object.entries(byGrant).map(([which, scenario]) => [`${call} | ${which}`, scenario] as const),
  );

  test.each(documentedRows('free-spins', Object.fromEntries(rows), 2))(
    '$row.0, $row.1: $row.2',
    async ({ row: [, , answer = '', called], scenario }) => {
      const call = await scenario();
      const before = world.provider.received.length;
      const reply = await call();
      const [status, named] = answer.replaceAll('`', '').split(' ');
      const { status: replied, headers, json } = reply;
      expect(String(replied)).toBe(status);
      if (named) expect(headers.get('x-error-code') ?? json['state']).toBe(named);
      expect('duplicateOf' in json).toBe(answer.includes('duplicateOf'));
      // The calls of a batch are sent only after the request for the batch was answered.
      const received = () => (world.provider.received.length > before ? 'yes' : 'no');
      if (called === 'yes') await expect.poll(received).toBe('yes');
      else expect(received()).toBe('no');
    },
  );
});
