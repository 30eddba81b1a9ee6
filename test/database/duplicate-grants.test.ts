import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DataSource } from 'typeorm';
import { openDataSource } from '../../src/database/data-source.js';
import { DuplicateGrants1764000000025 } from '../../src/database/migrations/0025-duplicate-grants.js';
import { createMigratedDatabase } from '../world/database.js';

let drop: () => Promise<void>;
let dataSource: DataSource;

beforeAll(async () => {
  const database = await createMigratedDatabase();
  drop = database.drop;
  dataSource = await openDataSource(database.url);
});
afterAll(async () => {
  await dataSource.destroy();
  await drop();
});

test('migration 0025 can be repeated, and leaves valid constraints and a valid index', async () => {
  const schema = async () => ({
    constraints: await dataSource.query<{ convalidated: boolean }[]>(
      `SELECT conname, convalidated, pg_get_constraintdef(oid) AS definition FROM pg_constraint
        WHERE conrelid = 'free_spin_grants'::regclass ORDER BY conname`,
    ),
    indexes: await dataSource.query<{ indisvalid: boolean }[]>(
      `SELECT indexrelid::regclass::text AS name, indisvalid FROM pg_index
        WHERE indrelid = 'free_spin_grants'::regclass ORDER BY name`,
    ),
  });
  const before = await schema();
  const runner = dataSource.createQueryRunner();
  await new DuplicateGrants1764000000025().up(runner).finally(() => runner.release());
  expect(await schema()).toEqual(before);
  expect(before.constraints.filter(({ convalidated }) => !convalidated)).toEqual([]);
  expect(before.indexes.filter(({ indisvalid }) => !indisvalid)).toEqual([]);
  expect(before.indexes).toContainEqual({ name: 'free_spin_grants_duplicates', indisvalid: true });
});
