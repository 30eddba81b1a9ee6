import { readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ADMIN_KEY, OPERATOR, PROVIDER, useWorld, type World } from '../../world/world.js';
import { allRequests, answerOf, answersOf, type Target } from './requests.js';

const RECORDING = join(import.meta.dirname, 'recording.json');

/** Each answer with the titles of its requests, without those answered like an unknown path. */
type Recording = Readonly<Record<string, readonly string[]>>;

const NOT_FOUND =
  '404 | content-type: application/json; charset=utf-8 | x-error-code: NOT_FOUND | x-next-action: fix-request | ';
const NOT_FOUND_BODY = '{"error":"not found"}';

const world = useWorld({ DOCS_ENABLED: 'true' });

function targetOf(world: World): Target {
  const tenant = (id: string) => ({ id, secret: world.secrets.get(id) ?? '' });
  return {
    url: world.url,
    adminKey: ADMIN_KEY,
    provider: tenant(PROVIDER),
    operator: tenant(OPERATOR),
  };
}

function byTitle(recording: Recording): Record<string, string> {
  return Object.fromEntries(
    Object.entries(recording).flatMap(([answer, titles]) => titles.map((title) => [title, answer])),
  );
}

/**
 * Requests that are answered differently on purpose. `batches` was read as a grant's id and is now the list of batches,
 * the route of a batch now has a query, operators now read their sessions, and the pages of the documents name their
 * encoding.
 */
const SINCE_THEN = [
  /^(GET|HEAD) \/v1\/(admin|operator)\/free-spins\/batches, /,
  /^(GET|HEAD) \/v1\/(admin|operator)\/free-spins\/batches\/\{batchId\}, a query/,
  /^(GET|HEAD) \/v1\/operator\/sessions, /,
  /^(GET|HEAD) \/v1\/operator\/sessions\/\{sessionId\}\/revoke, an escaped slash, /,
  /^(GET|HEAD) \/docs, /,
];

test('every route answers as the last build on Fastify did, whatever the method and the spelling', async () => {
  const recorded = byTitle(JSON.parse(await readFile(RECORDING, 'utf8')) as Recording);
  const answers = await answersOf(targetOf(world));
  const differing = allRequests()
    .map(({ title, method }) => ({
      title,
      recorded: recorded[title] ?? NOT_FOUND + (method === 'HEAD' ? '' : NOT_FOUND_BODY),
      answer: answers[title],
    }))
    .filter(
      ({ title, recorded, answer }) => recorded !== answer && !SINCE_THEN.some((each) => each.test(title)),
    );
  expect(Object.keys(recorded).length).toBeGreaterThan(1_000);
  expect(differing).toEqual([]);
}, 180_000);

test('a request target with a fragment is unknown', async () => {
  const agent = new Agent();
  const request = { caller: 'nobody', method: 'GET', path: '/health/live#x', title: '' } as const;
  expect(await answerOf(request, targetOf(world), agent)).toBe(NOT_FOUND + NOT_FOUND_BODY);
  agent.destroy();
});
