import { ok, refused, RIGHT } from '../reference-provider.js';
import { delay, type Mutation, RACE_MS } from './mutation.js';

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify([value]));
const keyedBy =
  (...fields: string[]) =>
  (grant: Record<string, unknown>) =>
    fields.map((field) => text(grant[field])).join(' ');

export const MEMORIES: Mutation[] = [
  [
    'forgets all but the last 50 grants',
    {
      known: (key, { grants }) => ([...grants.keys()].slice(-50).includes(key) ? grants.get(key) : undefined),
    },
    'first-grant-repeated',
    'whole run',
  ],
  [
    'forgets a grant after half a second',
    () => {
      const bookedMs = new Map<string, number>();
      return {
        known: (key, { grants }) => {
          const atMs = bookedMs.get(key) ?? Date.now();
          bookedMs.set(key, atMs);
          return Date.now() - atMs < 500 ? grants.get(key) : undefined;
        },
      };
    },
    'first-grant-repeated',
  ],
  [
    'forgets a batch after half a second',
    () => {
      const seenMs = new Map<object, number>();
      return {
        status: (batch) => {
          const atMs = seenMs.get(batch) ?? Date.now();
          seenMs.set(batch, atMs);
          return RIGHT.status(batch);
        },
        find: (reference, stored) => {
          const batch = RIGHT.find(reference, stored);
          if (!batch) return undefined;
          const atMs = seenMs.get(batch) ?? Date.now();
          seenMs.set(batch, atMs);
          return Date.now() - atMs < 500 ? batch : undefined;
        },
      };
    },
    'first-cancel-repeated',
  ],
  [
    'forgets a grant when it is cancelled',
    {
      known: (key, { grants }) => (grants.get(key)?.cancelled ? undefined : grants.get(key)),
    },
    'cancel-then-grant-reference',
  ],
  [
    'forgets a grant when its last spin is played',
    { known: (key, { grants }) => (grants.get(key)?.played ? undefined : grants.get(key)) },
    'grant-repeated-after-last-spin',
  ],
  ['remembers no grant', { known: () => undefined }, 'grant-repeated'],
  [
    'remembers only the latest grant',
    { known: (key, { grants }) => ([...grants.keys()].at(-1) === key ? grants.get(key) : undefined) },
    'first-grant-repeated',
    'whole run',
  ],
];

export const KEYS: Mutation[] = [
  [
    'keys grants by player and requestRef',
    { grantKey: keyedBy('playerRef', 'requestRef') },
    'grant-other-terms',
  ],
  ['keys grants by game and requestRef', { grantKey: keyedBy('gameId', 'requestRef') }, 'grant-other-terms'],
  ['keys grants by requestRef and spins', { grantKey: keyedBy('requestRef', 'spins') }, 'grant-other-terms'],
  [
    'keys grants by requestRef and stake',
    { grantKey: keyedBy('requestRef', 'betAmountMinor') },
    'grant-other-terms',
  ],
  [
    'keys grants by requestRef and currency',
    { grantKey: keyedBy('requestRef', 'currency') },
    'grant-other-terms',
  ],
  [
    'keys grants by their whole body',
    { grantKey: (grant) => JSON.stringify(grant) },
    'grant-repeated-spelled-anew',
  ],
  ['keys grants by player', { grantKey: keyedBy('playerRef') }, 'grant-after-grant'],
  ['keys grants by their terms', { grantKey: keyedBy('playerRef', 'gameId', 'spins') }, 'grants-at-once'],
  [
    'keys grants regardless of case',
    { grantKey: ({ requestRef }) => text(requestRef).toLowerCase() },
    'grant-reference-case',
  ],
  [
    'cuts a requestRef at 64 characters',
    { grantKey: ({ requestRef }) => text(requestRef).slice(0, 64) },
    'grant-reference-long',
  ],
  [
    'cuts a requestRef at 127 characters',
    { grantKey: ({ requestRef }) => text(requestRef).slice(0, 127) },
    'grant-reference-long',
  ],
  [
    'refuses a requestRef of more than 100 characters',
    {
      objection: (grant) => (text(grant['requestRef']).length > 100 ? refused(400) : RIGHT.objection(grant)),
    },
    'grant-reference-long',
  ],
  [
    'keeps only letters and digits of a requestRef',
    { grantKey: ({ requestRef }) => text(requestRef).replace(/[^A-Za-z0-9-]/g, '') },
    'grant-reference-characters',
  ],
  [
    'decodes percent signs in a requestRef',
    { grantKey: ({ requestRef }) => text(requestRef).replaceAll('%41', 'A') },
    'grant-reference-characters',
  ],
  [
    'decodes HTML in a requestRef',
    { grantKey: ({ requestRef }) => text(requestRef).replaceAll('&amp;', '&') },
    'grant-reference-characters',
  ],
  [
    'refuses a requestRef that is no UUID-like text',
    {
      objection: (grant) =>
        /^[\w-]+$/.test(text(grant['requestRef'])) ? RIGHT.objection(grant) : refused(422),
    },
    'grant-reference-characters',
  ],
  [
    'reads JSON with a pattern',
    {
      parse: (raw) => {
        const field = (name: string) => new RegExp(`"${name}"\\s*:\\s*"([^"]*)"`).exec(raw)?.[1];
        return raw.includes('\\u')
          ? { ...RIGHT.parse(raw), requestRef: field('requestRef') ?? 'none' }
          : RIGHT.parse(raw);
      },
    },
    'grant-repeated-spelled-anew',
  ],
];

export const REPETITIONS: Mutation[] = [
  ['answers a repeated grant with 409', { grantedAgain: () => refused(409) }, 'grant-repeated'],
  [
    'answers a repeated grant with 208',
    { grantedAgain: (batch) => ({ ...RIGHT.granted(batch), status: 208 }) },
    'grant-repeated',
  ],
  [
    'answers a repeated grant with 204',
    { grantedAgain: () => ({ status: 204, body: '' }) },
    'grant-repeated',
  ],
  [
    'answers a repeated grant without externalRef',
    { grantedAgain: () => ok({ duplicate: true }) },
    'grant-repeated',
  ],
  ['answers a repeated grant with null', { grantedAgain: () => ok({ externalRef: null }) }, 'grant-repeated'],
  [
    'gives a batch a second name when its grant is repeated',
    {
      grantedAgain: (batch, _, { batches }) => {
        batches.set(`${batch.externalRef}-again`, batch);
        return ok({ externalRef: `${batch.externalRef}-again` });
      },
    },
    'grant-repeated',
  ],
  [
    'refuses other terms with 409',
    {
      grantedAgain: (batch, { spins }) =>
        spins === batch.grant['spins'] ? RIGHT.granted(batch) : refused(409),
    },
    'grant-other-terms',
  ],
  [
    'takes over the spins of other terms',
    {
      grantedAgain: (batch, { spins }) => {
        if (spins !== batch.grant['spins']) batch.remaining = Number(spins);
        return RIGHT.granted(batch);
      },
    },
    'grant-other-terms-change-nothing',
  ],
  [
    'takes over more spins, but not fewer',
    {
      grantedAgain: (batch, { spins }) => {
        batch.remaining = Math.max(batch.remaining, Number(spins));
        return RIGHT.granted(batch);
      },
    },
    'grant-other-terms-change-nothing',
  ],
  [
    'gives the batch to the player of other terms',
    {
      grantedAgain: (batch, grant) => {
        batch.grant = { ...batch.grant, playerRef: grant['playerRef'] };
        return RIGHT.granted(batch);
      },
    },
    'grant-other-terms-change-nothing',
  ],
  [
    'shows the batch to the game of other terms, too',
    () => {
      const games = new Map<object, Set<unknown>>();
      return {
        grantedAgain: (batch, { gameId }) => {
          games.set(batch, (games.get(batch) ?? new Set()).add(gameId));
          return RIGHT.granted(batch);
        },
        find: (reference, stored) => {
          const batch = stored.batches.get(text(reference['externalRef']));
          const isShown = batch && games.get(batch)?.has(reference['gameId']);
          return isShown ? batch : RIGHT.find(reference, stored);
        },
      };
    },
    'grant-other-terms-change-nothing',
  ],
  [
    'adds the spins of a repeated grant',
    {
      grantedAgain: (batch, { spins }) => {
        batch.remaining += Number(spins);
        return RIGHT.granted(batch);
      },
    },
    'grant-repeated-adds-nothing',
  ],
  [
    'looks up a grant long before it stores it',
    { known: async (key, { grants }) => (await delay(5), grants.get(key)) && undefined },
    'grant-repeated',
  ],
  [
    'stores a grant a moment after it looked it up',
    {
      known: async (key, { grants }) => {
        const known = grants.get(key);
        if (!known) await delay(RACE_MS);
        return known;
      },
    },
    'grant-repeated-at-once',
  ],
  [
    'answers 409 while an equal grant is being booked',
    () => {
      const booking = new Set<string>();
      return {
        known: async (key, { grants }) => {
          if (booking.has(key)) throw new Error('being booked');
          booking.add(key);
          await delay(RACE_MS);
          booking.delete(key);
          return grants.get(key);
        },
      };
    },
    'grant-repeated-at-once',
  ],
  [
    'never releases the lock of a grant whose caller has left',
    () => {
      const locked = new Set<string>();
      return {
        work: () => delay(40),
        finish: (answer, { path, raw }) => {
          const key = path.endsWith('/grant') && raw.startsWith('{"requestRef"') ? raw : '';
          if (key === '' || answer.status !== 200 || !answer.body) return answer;
          if (!locked.has(key)) return (locked.add(key), answer);
          return refused(423);
        },
      };
    },
    'grant-answer-lost',
  ],
  [
    'fills a cancelled batch again',
    {
      grantedAgain: (batch, { spins }) => (
        (batch.remaining = Number(spins) - batch.played),
        RIGHT.granted(batch)
      ),
    },
    'cancel-then-grant',
  ],
  [
    'gives played spins back',
    {
      grantedAgain: (batch) => {
        if (!batch.cancelled) batch.remaining = Number(batch.grant['spins']);
        return RIGHT.granted(batch);
      },
    },
    'grant-repeated-after-spin',
  ],
  [
    'answers 410 for a cancelled grant',
    { grantedAgain: (batch) => (batch.cancelled ? refused(410) : RIGHT.granted(batch)) },
    'cancel-then-grant-reference',
  ],
];

export const REFERENCES: Mutation[] = [
  [
    'names a batch after its player',
    { newReference: (_, { playerRef }) => text(playerRef) },
    'grant-after-grant',
  ],
  [
    'names a batch after the second',
    { newReference: () => String(Math.floor(Date.now() / 1000)) },
    'grants-at-once',
  ],
  [
    'names a batch after 12 characters of its requestRef',
    { newReference: (_, { requestRef }) => text(requestRef).slice(0, 12) },
    'grants-at-once',
  ],
  ['answers an empty externalRef', { granted: () => ok({ externalRef: '' }) }, 'grant-reference'],
  [
    'answers an externalRef of 257 characters',
    { newReference: ({ batches }) => String(batches.size).padStart(257, '0') },
    'grant-reference',
  ],
  [
    'answers an externalRef with a bidirectional control',
    { newReference: ({ batches }) => `\u202e${batches.size}` },
    'grant-reference',
  ],
  [
    'answers an externalRef in a list',
    { granted: ({ externalRef }) => ok([{ externalRef }]) },
    'grant-reference',
  ],
  [
    'answers an externalRef one level too deep',
    { granted: (batch) => ok({ data: RIGHT.granted(batch).body }) },
    'grant-reference',
  ],
  [
    'names the field external_ref',
    { granted: ({ externalRef }) => ok({ external_ref: externalRef }) },
    'grant-reference',
  ],
  [
    'answers a grant with 202',
    { granted: (batch) => ({ ...RIGHT.granted(batch), status: 202 }) },
    'grant-reference',
  ],
  [
    'answers a grant with the text of the externalRef',
    { granted: ({ externalRef }) => ({ status: 200, body: externalRef }) },
    'grant-reference',
  ],
];

export const OBJECTIONS: Mutation[] = [
  [
    'refuses more than 100 spins',
    { objection: (grant) => (Number(grant['spins']) > 100 ? refused(422) : RIGHT.objection(grant)) },
    'grant-many-spins',
  ],
  [
    'refuses fewer than 2 spins',
    { objection: (grant) => (Number(grant['spins']) < 2 ? refused(422) : RIGHT.objection(grant)) },
    'grant-one-spin',
  ],
  [
    'refuses the default stake',
    { objection: (grant) => (grant['betAmountMinor'] ? RIGHT.objection(grant) : refused(422)) },
    'grant-default-stake',
  ],
  [
    'fails at a stake of more than 32 bits',
    {
      objection: (grant) =>
        Number(grant['betAmountMinor']) > 2 ** 31 ? refused(500) : RIGHT.objection(grant),
    },
    'grant-greatest-stake',
  ],
  [
    'fails at an unknown player',
    {
      objection: (grant) =>
        text(grant['playerRef']).includes('-player-') ? refused(500) : RIGHT.objection(grant),
    },
    'grant-unknown-player',
  ],
  [
    'answers 401 for an unknown game',
    {
      objection: (grant) =>
        text(grant['gameId']).includes('-game-') ? refused(401) : RIGHT.objection(grant),
    },
    'grant-unknown-player',
  ],
  ['books a grant without a requestRef', { objection: () => undefined }, 'grant-incomplete'],
  [
    'fails without a requestRef',
    { objection: (grant) => RIGHT.objection(grant) && refused(500) },
    'grant-incomplete',
  ],
  [
    'fails at a list',
    {
      parse: (raw) =>
        raw === '[]'
          ? {
              get requestRef() {
                throw new Error('a list');
              },
            }
          : RIGHT.parse(raw),
    },
    'grant-not-an-object',
  ],
  [
    'fails at a body that is not JSON',
    {
      parse: (raw) => {
        try {
          return RIGHT.parse(raw);
        } catch {
          throw new Error('no JSON');
        }
      },
    },
    'grant-broken',
  ],
  [
    'takes an empty body for an empty object',
    { parse: (raw) => RIGHT.parse(raw || '{"requestRef":"none"}') },
    'grant-not-an-object',
  ],
  [
    'refuses unknown fields',
    {
      parse: (raw) => {
        if (raw.includes('certifyFlag')) throw new SyntaxError('certifyFlag');
        return RIGHT.parse(raw);
      },
    },
    'grant-unknown-fields',
  ],
];
