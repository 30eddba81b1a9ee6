import { randomUUID } from 'node:crypto';
import { DataSource, type EntityMetadata } from 'typeorm';
import { beforeAll, expect, test, vi } from 'vitest';
import { selectList } from '../../src/database/select-list.js';
import { Tool } from '../free-spins/tool.js';
import { OTHER_OPERATOR, useWorld } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

/** Types whose names differ between PostgreSQL's information schema and TypeORM. */
const SCHEMA_NAMES: Readonly<Record<string, string>> = { timestamptz: 'timestamp with time zone' };

let entities: EntityMetadata[];

const world = useWorld();

/** Inserts at least one row into every table with an entity. */
beforeAll(async () => {
  entities = world.app.get(DataSource).entityMetadatas;
  const tool = new Tool(world);
  const { requestRef } = await tool.granted();
  await tool.act(requestRef, 'status');
  const { requestRef: _, playerRef, ...spins } = tool.order();
  const batch = { ...spins, playerRefs: [playerRef] };
  const { batchId } = (await world.admin('POST', '/v1/admin/free-spins/batches', batch)).json;
  await vi.waitFor(async () => {
    const { json } = await world.admin('GET', `/v1/admin/free-spins/batches/${String(batchId)}`);
    expect(json).toMatchObject({ pending: 0 });
  }, PATIENCE);
  await world.admin('POST', `/v1/admin/operators/${OTHER_OPERATOR}/pause`, { reason: 'moved' });
  await world.admin('POST', '/v1/admin/keys', { name: 'Night shift', role: 'support' });
  const { sessionId } = await world.launch({ language: 'en' });
  await world.revoke(sessionId);
  await world.launch();
});

test('every column of an entity has the type and nullability of its column in the database', async () => {
  const declared = entities.flatMap(({ tableName, columns }) =>
    columns
      .filter(({ isVirtualProperty }) => !isVirtualProperty)
      .map(({ databaseName, type, isNullable, isArray }) => ({
        column: `${tableName}.${databaseName}`,
        type: isArray ? 'ARRAY' : (SCHEMA_NAMES[String(type)] ?? type),
        nullable: isNullable,
      })),
  );
  const actual = await world.sql.run<{ column: string; type: string; nullable: boolean }>(
    `SELECT table_name || '.' || column_name AS column, data_type AS type, is_nullable = 'YES' AS nullable
       FROM information_schema.columns WHERE table_schema = current_schema()`,
  );
  expect(declared.length).toBeGreaterThan(0);
  expect(actual).toEqual(expect.arrayContaining(declared));
});

test('a statement with the select list of an entity reads what its repository reads', async () => {
  // Entities that share a table by inheritance each have a part of its columns or rows.
  const unshared = entities.filter(({ discriminatorColumn }) => !discriminatorColumn);
  expect(unshared.length).toBeGreaterThanOrEqual(4);
  for (const { target, tableName, name } of unshared) {
    const read = await world.app.get(DataSource).manager.find(target);
    const rows = await world.sql.run(
      `SELECT ${selectList(target as abstract new () => object, 't')} FROM ${tableName} t`,
    );
    expect(rows.length, name).toBe(read.length);
    expect(rows.length, name).toBeGreaterThan(0);
    expect(rows, name).toEqual(expect.arrayContaining(read.map((entity) => ({ ...entity }))));
  }
});

test('the hash of a token is read neither by the repository nor by the select list', async () => {
  const sessions = entities.find(({ tableName }) => tableName === 'sessions')!;
  const [session] = await world.app.get(DataSource).manager.find(sessions.target);
  expect(session).toHaveProperty('sessionId');
  expect(session).not.toHaveProperty('tokenHash');
  expect(selectList(sessions.target as abstract new () => object, 's')).not.toContain('token_hash');
});

test('a callback is inserted with an ascending id, its time by the database and no outcome', async () => {
  const session = await world.launch({ playerRef: `player-${randomUUID()}` });
  const held = world.provider.next({ do: 'hold' }, { sessionId: session.sessionId });
  const reply = world.revoke(session.sessionId);
  await held.arrived;
  const [row] = await world.sql.run(
    `SELECT status, answer, error, duration_ms, completed_at, request_id IS NOT NULL AS traced,
            callback_id = (SELECT max(callback_id) FROM callbacks) AS newest,
            abs(extract(epoch FROM created_at - clock_timestamp())) < 60 AS now
       FROM callbacks WHERE reference = $1`,
    [session.sessionId],
  );
  expect(row).toEqual({
    status: null,
    answer: null,
    error: null,
    duration_ms: null,
    completed_at: null,
    traced: true,
    newest: true,
    now: true,
  });
  held.release();
  await reply;
});
