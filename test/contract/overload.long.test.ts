import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Admission, type RequestUnderWay, MAX_CLAIMING } from '../../src/wallet/admission.js';
import { type LaunchedSession, PROVIDER, type Reply, useWorld } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

const BEYOND = 10;

let session: LaunchedSession;
let admission: Admission;
const world = useWorld();
beforeAll(async () => {
  session = await world.launch();
  admission = world.app.get(Admission);
});
afterEach(() => vi.restoreAllMocks());

/** Takes every place in which requests load and claim. */
const takeAll = () => Promise.all(Array.from({ length: MAX_CLAIMING }, () => admission.enter('beginning')));

/** The requests from now on, by number of arrival, in the order in which they are admitted. */
function recordAdmissions(): number[] {
  const admitted: number[] = [];
  const enter = admission.enter.bind(admission);
  let arrived = 0;
  vi.spyOn(admission, 'enter').mockImplementation(async (of) => {
    const number = arrived;
    arrived += 1;
    const place = await enter(of);
    admitted.push(number);
    return place;
  });
  return admitted;
}

const leave = (places: readonly RequestUnderWay[]) => places.forEach((place) => place.leave());

test('a request that is not admitted is refused after a wait, and uses up no id', async () => {
  const booked = world.transaction(session, 'BET');
  expect((await world.submit(booked)).status).toBe(200);
  const places = await takeAll();
  const beyond = Array.from({ length: BEYOND }, () => world.transaction(session, 'BET'));
  const win = world.transaction(session, 'WIN', { roundId: booked.roundId });
  const answers = [...beyond, win].map((body) => world.submit(body));
  const refused = await Promise.all([...answers, world.balance(session)]);
  for (const reply of refused) {
    expect(reply.status).toBe(500);
    expect(reply.headers.get('X-Error-Code')).toBe('OVERLOADED');
    expect(reply.headers.get('X-Next-Action')).toBe('retry-same-request');
    expect(reply.headers.get('Retry-After')).toBe('1');
  }
  // Checks that come earlier answer as usual.
  expect((await world.submit({ ...booked, amountMinor: -1 })).status).toBe(400);
  const forged = await world.signed(PROVIDER, '/v1/wallet/transaction', booked, { secret: 'wrong' });
  expect(forged.status).toBe(401);
  const metric = `croupier_overload_refusals_total{reason="waited"} ${refused.length}`;
  expect(await world.metrics()).toContain(metric);

  leave(places);
  for (const body of [...beyond, win]) {
    expect(await world.stateOf(body.transactionId)).toBeUndefined();
    expect((await world.submit(body)).json['status']).toBe('APPROVED');
  }
});

test('a WIN is admitted before BETs, and of BETs the newest', async () => {
  const booked = world.transaction(session, 'BET');
  expect((await world.submit(booked)).status).toBe(200);
  const places = await takeAll();
  const admitted = recordAdmissions();
  const queues = admission as unknown as Record<'settling' | 'beginning', unknown[]>;
  const wait = async (count: number) =>
    vi.waitFor(() => expect(queues.settling.length + queues.beginning.length).toBe(count), PATIENCE);
  const bodies = [
    world.transaction(session, 'BET'),
    world.transaction(session, 'BET'),
    world.transaction(session, 'WIN', { roundId: booked.roundId }),
    world.transaction(session, 'WIN', { roundId: booked.roundId }),
  ];
  const answers: Promise<Reply>[] = [];
  for (const body of bodies) {
    answers.push(world.submit(body));
    await wait(answers.length);
  }
  // One place: each is admitted when the one before it has claimed.
  places.pop()?.leave();
  const replies = await Promise.all(answers);
  leave(places);
  for (const reply of replies) expect(reply.json['status']).toBe('APPROVED');
  const [older, newer, firstWin, secondWin] = [0, 1, 2, 3];
  expect(admitted).toEqual([firstWin, secondWin, newer, older]);
});

test('a request that ends its claiming several times lets only one waiting request begin', async () => {
  const places = await takeAll();
  const third: RequestUnderWay[] = [];
  const waiting = [admission.enter('settling'), admission.enter('settling')];
  for (const next of waiting) void next.then((place) => third.push(place));
  places[0]?.endClaiming();
  places[0]?.endClaiming();
  places[0]?.leave();
  await waiting[0];
  expect(third).toHaveLength(1);
  places[1]?.leave();
  await waiting[1];
  leave(third);
  leave(places.slice(2));
  expect(admission).toMatchObject({ claiming: 0, underWay: 0 });
});
