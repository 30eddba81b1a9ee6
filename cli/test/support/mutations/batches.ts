import { CALLBACK_ROUTES } from '@croupier/provider-sdk';
import { type Batch, ok, refused, RIGHT, type Stored } from '../reference-provider.js';
import { delay, type Mutation, RACE_MS } from './mutation.js';

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify([value]));
const status = (batch: Batch) => RIGHT.status(batch).body as { remainingSpins: number; completed: boolean };
/** Finds a batch of the player and game whose externalRef matches. */
const matching =
  (matches: (externalRef: string, asked: unknown) => boolean) =>
  ({ externalRef, playerRef, gameId }: Record<string, unknown>, { batches }: Stored) =>
    [...batches.values()].findLast(
      ({ grant, ...batch }) =>
        grant['playerRef'] === playerRef &&
        grant['gameId'] === gameId &&
        matches(batch.externalRef, externalRef),
    );

export const STATUSES: Mutation[] = [
  [
    'answers remainingSpins as a text',
    { status: (batch) => ok({ ...status(batch), remainingSpins: String(batch.remaining) }) },
    'status-after-grant',
  ],
  [
    'answers completed as a text',
    { status: (batch) => ok({ ...status(batch), completed: String(status(batch).completed) }) },
    'status-after-grant',
  ],
  [
    'answers -1 spins of a cancelled batch',
    { status: (batch) => ok({ ...status(batch), remainingSpins: batch.cancelled ? -1 : batch.remaining }) },
    'cancel-voids-spins',
  ],
  [
    'answers half a spin',
    { status: (batch) => ok({ ...status(batch), remainingSpins: batch.remaining - 0.5 }) },
    'status-after-grant',
  ],
  [
    'answers that every batch is completed',
    { status: (batch) => ok({ ...status(batch), completed: true }) },
    'status-after-grant',
  ],
  [
    'answers that no batch is completed',
    { status: (batch) => ok({ ...status(batch), completed: false }) },
    'status-after-last-spin',
  ],
  [
    'answers that a batch is completed after one spin',
    { status: (batch) => ok({ ...status(batch), completed: batch.played > 0 }) },
    'status-after-spin',
  ],
  [
    'answers the granted spins as remaining',
    {
      status: (batch) => ok({ ...status(batch), remainingSpins: batch.cancelled ? 0 : batch.grant['spins'] }),
    },
    'status-after-spin',
  ],
  [
    'answers the played spins as remaining',
    { status: (batch) => ok({ ...status(batch), remainingSpins: batch.played }) },
    'status-after-grant',
  ],
  [
    'answers a status with snake case',
    { status: (batch) => ok({ remaining_spins: batch.remaining, completed: false }) },
    'status-after-grant',
  ],
  [
    'answers a status with 202',
    { status: (batch) => ({ ...RIGHT.status(batch), status: 202 }) },
    'status-after-grant',
  ],
  [
    'plays a spin for each status',
    { status: (batch) => (RIGHT.play(batch), RIGHT.status(batch)) },
    'status-repeated',
  ],
  [
    'completes a batch whose status was asked twice',
    () => {
      const asked = new Map<Batch, number>();
      return {
        status: (batch) => {
          asked.set(batch, (asked.get(batch) ?? 0) + 1);
          if ((asked.get(batch) ?? 0) > 2) batch.remaining = 0;
          return RIGHT.status(batch);
        },
      };
    },
    'status-repeated',
  ],
  [
    'has no status of a cancelled batch',
    { status: (batch) => (batch.cancelled ? refused(404) : RIGHT.status(batch)) },
    'cancel-voids-spins',
  ],
  [
    'has no status of a completed batch',
    { status: (batch) => (batch.played === batch.grant['spins'] ? refused(404) : RIGHT.status(batch)) },
    'status-after-last-spin',
  ],
  [
    'shows one spin too few of large batches',
    { status: (batch) => ok({ ...status(batch), remainingSpins: Math.min(batch.remaining, 999) }) },
    'grant-many-spins',
  ],
];

export const LOOKUPS: Mutation[] = [
  [
    'answers zero spins of an unknown batch',
    {
      unknown: (path) =>
        path === CALLBACK_ROUTES.status ? ok({ remainingSpins: 0, completed: true }) : refused(404),
    },
    'status-unknown-batch',
  ],
  [
    'answers 200 to the cancel of an unknown batch',
    { unknown: (path) => (path === CALLBACK_ROUTES.cancel ? ok() : refused(404)) },
    'cancel-unknown-batch',
  ],
  ['fails at an unknown batch', { unknown: () => refused(500) }, 'status-unknown-batch'],
  ['answers 401 for an unknown batch', { unknown: () => refused(401) }, 'status-unknown-batch'],
  [
    'answers 204 for an unknown batch',
    { unknown: () => ({ status: 204, body: '' }) },
    'status-unknown-batch',
  ],
  [
    'redirects for an unknown batch',
    { unknown: () => ({ ...refused(302), headers: { Location: '/' } }) },
    'status-unknown-batch',
  ],
  [
    'finds batches by their externalRef only',
    { find: ({ externalRef }, { batches }) => batches.get(text(externalRef)) },
    'status-another-player',
  ],
  [
    'does not compare the game of a batch',
    {
      find: ({ externalRef, playerRef }, { batches }) =>
        [batches.get(text(externalRef))].find((batch) => batch?.grant['playerRef'] === playerRef),
    },
    'status-another-game',
  ],
  ["takes the player's latest batch", { find: matching(() => true) }, 'status-unknown-batch', 'whole run'],
  [
    'finds batches regardless of case',
    { find: matching((externalRef, asked) => externalRef.toLowerCase() === text(asked).toLowerCase()) },
    'status-similar-reference',
  ],
  [
    'trims an externalRef',
    { find: matching((externalRef, asked) => externalRef === text(asked).trim()) },
    'cancel-similar-reference',
  ],
  [
    'finds batches by the beginning of an externalRef',
    { find: matching((externalRef, asked) => text(asked).startsWith(externalRef)) },
    'status-similar-reference',
  ],
  [
    'finds batches with LIKE',
    { find: matching((externalRef, asked) => externalRef === asked || text(asked) === '%') },
    'cancel-similar-reference',
  ],
  [
    'finds batches by injected SQL',
    { find: matching((externalRef, asked) => externalRef === asked || text(asked).includes("' OR '1'='1")) },
    'status-similar-reference',
  ],
  [
    'finds batches by an operator of its database',
    {
      find: matching(
        (externalRef, asked) => externalRef === asked || (typeof asked === 'object' && asked !== null),
      ),
    },
    'status-similar-reference',
  ],
  [
    'finds any batch for null',
    { find: matching((externalRef, asked) => externalRef === asked || asked === null) },
    'cancel-similar-reference',
  ],
  [
    'finds any batch for an empty externalRef',
    { find: matching((externalRef, asked) => externalRef.includes(text(asked))) },
    'status-similar-reference',
  ],
  [
    'fails at a long externalRef',
    {
      find: (reference, stored) => {
        if (text(reference['externalRef']).length > 255) throw new Error('too long');
        return RIGHT.find(reference, stored);
      },
    },
    'status-similar-reference',
  ],
  [
    'fails without an externalRef',
    {
      find: (reference, stored) => {
        if (!('externalRef' in reference)) throw new Error('none');
        return RIGHT.find(reference, stored);
      },
    },
    'cancel-incomplete',
  ],
  [
    'takes a missing player for any',
    {
      find: ({ playerRef, ...reference }, stored) =>
        RIGHT.find(
          {
            playerRef: playerRef ?? stored.batches.get(text(reference['externalRef']))?.grant['playerRef'],
            ...reference,
          },
          stored,
        ),
    },
    'status-incomplete',
  ],
];

export const CANCELS: Mutation[] = [
  [
    'answers a cancel with 204',
    { cancel: (batch, stored) => ({ ...RIGHT.cancel(batch, stored), status: 204 }) },
    'cancel-answered',
  ],
  [
    'answers a cancel with 202',
    { cancel: (batch, stored) => ({ ...RIGHT.cancel(batch, stored), status: 202 }) },
    'cancel-answered',
  ],
  [
    'answers a second cancel with 409',
    { cancel: (batch, stored) => (batch.cancelled ? refused(409) : RIGHT.cancel(batch, stored)) },
    'cancel-repeated',
  ],
  [
    'answers a second cancel with 404',
    { cancel: (batch, stored) => (batch.cancelled ? refused(404) : RIGHT.cancel(batch, stored)) },
    'cancel-repeated',
  ],
  [
    'answers the cancel of a completed batch with 409',
    {
      cancel: (batch, stored) =>
        batch.remaining === 0 && !batch.cancelled ? refused(409) : RIGHT.cancel(batch, stored),
    },
    'cancel-after-last-spin',
  ],
  ['cancels nothing', { cancel: () => ok() }, 'cancel-voids-spins'],
  [
    'cancels no batch of which spins were played',
    { cancel: (batch, stored) => (batch.played > 0 ? ok() : RIGHT.cancel(batch, stored)) },
    'cancel-after-spins',
  ],
  [
    'refuses to cancel a batch of which spins were played',
    { cancel: (batch, stored) => (batch.played > 0 ? refused(409) : RIGHT.cancel(batch, stored)) },
    'cancel-after-spins',
  ],
  [
    'cancels all but one spin',
    { cancel: (batch) => ((batch.remaining = Math.min(batch.remaining, 1)), ok()) },
    'cancel-voids-spins',
  ],
  [
    'cancels a moment after it has answered',
    {
      cancel: (batch, stored) => {
        setTimeout(() => RIGHT.cancel(batch, stored), 50);
        return ok();
      },
    },
    'cancel-voids-spins',
  ],
  [
    'deletes a batch that is cancelled',
    { cancel: (batch, { batches }) => (batches.delete(batch.externalRef), ok()) },
    'cancel-voids-spins',
  ],
  [
    'cancels all batches of the player',
    {
      cancel: (batch, stored) => {
        for (const each of stored.batches.values())
          if (each.grant['playerRef'] === batch.grant['playerRef']) RIGHT.cancel(each, stored);
        return ok();
      },
    },
    'cancel-leaves-others',
  ],
  [
    'cancels earlier batches of the player, too',
    {
      cancel: (batch, stored) => {
        for (const each of stored.batches.values()) {
          if (each.grant['playerRef'] === batch.grant['playerRef']) RIGHT.cancel(each, stored);
          if (each === batch) break;
        }
        return ok();
      },
    },
    'cancel-leaves-others',
  ],
  [
    'fails at concurrent cancels',
    () => {
      let underWay = 0;
      return {
        work: async ({ path }) => {
          if (path !== CALLBACK_ROUTES.cancel) return;
          underWay += 1;
          const isFirst = underWay === 1;
          await delay(RACE_MS);
          underWay -= 1;
          if (!isFirst) throw new Error('deadlock');
        },
      };
    },
    'cancel-at-once',
  ],
  [
    'plays spins of a cancelled batch',
    { play: (batch) => (batch.cancelled ? ok() : RIGHT.play(batch)) },
    'cancel-ends-play',
  ],
  [
    'plays more spins than it granted',
    { play: (batch) => ((batch.remaining = Math.max(0, batch.remaining - 1)), ok()) },
    'play-after-last-spin',
  ],
  [
    'checks the remaining spins long before it plays one',
    {
      play: async (batch) => {
        const hasSpins = batch.remaining > 0;
        await delay(RACE_MS);
        if (!hasSpins) return refused(409);
        batch.remaining = Math.max(0, batch.remaining - 1);
        batch.played += 1;
        return ok();
      },
    },
    'plays-at-once',
  ],
  [
    'loses a spin that is played at the same time',
    {
      play: async (batch) => {
        const { remaining } = batch;
        if (remaining === 0) return refused(409);
        await delay(RACE_MS);
        batch.remaining = remaining - 1;
        batch.played = Number(batch.grant['spins']) - batch.remaining;
        return ok();
      },
    },
    'plays-at-once',
  ],
];

export const REVOCATIONS: Mutation[] = [
  ['answers 404 for a session that it does not know', { revoke: () => refused(404) }, 'revoke-answered'],
  ['answers a revocation with 204', { revoke: () => ({ status: 204, body: '' }) }, 'revoke-answered'],
  [
    'answers a repeated revocation with 409',
    {
      revoke: (body, stored) =>
        stored.revocations.has(text(body['revocationRef'])) ? refused(409) : RIGHT.revoke(body, stored),
    },
    'revoke-repeated',
  ],
  [
    'answers a second revocation of a session with 409',
    {
      revoke: ({ sessionId }, { revocations }) =>
        revocations.has(text(sessionId)) ? refused(409) : (revocations.add(text(sessionId)), ok()),
    },
    'revoke-after-revoke',
  ],
  [
    'answers a second revocation with another reason with 404',
    () => {
      const reasons = new Map<string, unknown>();
      return {
        revoke: ({ sessionId, reason }) => {
          const known = reasons.get(text(sessionId)) ?? reason;
          reasons.set(text(sessionId), known);
          return known === reason ? ok() : refused(404);
        },
      };
    },
    'revoke-after-revoke',
  ],
  [
    'does not know FRAUD_HOLD',
    { revoke: ({ reason }) => (reason === 'FRAUD_HOLD' ? refused(400) : ok()) },
    'revoke-every-reason',
  ],
  [
    'knows reasons in lower case only',
    { revoke: ({ reason }) => (reason === text(reason).toLowerCase() ? ok() : refused(400)) },
    'revoke-answered',
  ],
  [
    'fails when a revocation arrives twice at once',
    () => {
      const storing = new Set<string>();
      return {
        revoke: async ({ revocationRef }) => {
          const key = text(revocationRef);
          if (storing.has(key)) return refused(500);
          storing.add(key);
          await delay(RACE_MS);
          storing.delete(key);
          return ok();
        },
      };
    },
    'revoke-repeated-at-once',
  ],
  [
    'carries out four revocations at a time',
    () => {
      let underWay = 0;
      return {
        revoke: async () => {
          if (underWay >= 4) return refused(503);
          underWay += 1;
          await delay(RACE_MS);
          underWay -= 1;
          return ok();
        },
      };
    },
    'revoke-at-once',
  ],
  [
    'forgets a revocation after half a second, and then does not know its session',
    () => {
      const atMs = new Map<string, number>();
      return {
        revoke: ({ sessionId }) => {
          const first = atMs.get(text(sessionId)) ?? Date.now();
          atMs.set(text(sessionId), first);
          return Date.now() - first < 500 ? ok() : refused(404);
        },
      };
    },
    'first-revocation-repeated',
  ],
  [
    'fails at a revocation that is not JSON',
    {
      parse: (raw) => {
        if (raw.startsWith('{"sessionId":') && raw.length < 20) throw new Error('no JSON');
        return RIGHT.parse(raw);
      },
    },
    'revoke-broken',
  ],
];
