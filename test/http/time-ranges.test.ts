import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OPERATOR, useWorld } from '../world/world.js';

const DOCUMENT = join(import.meta.dirname, '../../docs/openapi/croupier.json');

interface Operation {
  readonly parameters?: readonly { readonly name: string }[];
}
const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as {
  paths: Record<string, { readonly get?: Operation }>;
};
const LISTS = Object.entries(paths)
  .filter(([, { get }]) => get?.parameters?.some(({ name }) => name === 'from'))
  .map(([path]) => path);

const world = useWorld();

const list = (path: string) =>
  path.startsWith('/v1/operator/') ? world.signedGet(OPERATOR, path) : world.admin('GET', path);

test.each(LISTS)('%s accepts times at the limits of their format', async (path) => {
  const times = ['0100-01-01', '2020-01-01T00:00%2B23:59', '9999-12-31T23:59-23:59'];
  const queries = times.flatMap((time) => [`from=${time}`, `to=${time}`]);
  const statuses = await Promise.all(queries.map(async (query) => (await list(`${path}?${query}`)).status));
  expect(statuses).toEqual(queries.map(() => 200));
});
