import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  bigInteger,
  bytes,
  flag,
  instant,
  integer,
  nullable,
  secret,
  text,
  uuid,
} from '../../src/database/columns.js';
import { connectDataSource } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { createTestDatabase } from '../world/database.js';
import { named } from '../../src/database/statement.js';

@Entity({ name: 'samples', synchronize: false })
class Sample {
  @PrimaryColumn(integer('sample_no'))
  sampleNo: number;

  @Column(text('a_text'))
  text: string;

  @Column(bigInteger('a_bigint'))
  bigint: number;

  @Column(flag('a_flag'))
  flag: boolean;

  @Column(uuid('a_uuid'))
  uuid: string;

  @Column(bytes('some_bytes'))
  bytes: Buffer;

  @Column(instant('an_instant'))
  instant: Date;

  @Column(nullable(instant('perhaps_an_instant')))
  perhapsInstant: Date | null;

  @Column(nullable(bigInteger('perhaps_a_bigint')))
  perhapsBigint: number | null;

  @Column(secret(text('a_secret')))
  secret: string;
}

const TABLE = `
CREATE TABLE samples (
  sample_no integer PRIMARY KEY, a_text text NOT NULL, a_bigint bigint NOT NULL, a_flag boolean NOT NULL,
  a_uuid uuid NOT NULL, some_bytes bytea NOT NULL, an_instant timestamptz NOT NULL, perhaps_an_instant timestamptz,
  perhaps_a_bigint bigint, a_secret text NOT NULL
)`;
const SQL_ROW = named(
  'sample',
  `
    SELECT sample_no AS "sampleNo", a_text AS text, a_bigint AS bigint, a_flag AS flag, a_uuid AS uuid, some_bytes AS bytes,
           an_instant AS instant, perhaps_an_instant AS "perhapsInstant", perhaps_a_bigint AS "perhapsBigint"
      FROM samples`,
);
const SAMPLE = {
  sampleNo: 1,
  text: 'Ünïcode',
  bigint: Number.MAX_SAFE_INTEGER,
  flag: true,
  uuid: '00000000-0000-4000-8000-000000000000',
  bytes: Buffer.from([0, 255]),
  instant: new Date('2026-01-31T23:59:59.007Z'),
  perhapsInstant: null,
  perhapsBigint: null,
  secret: 'planted',
};

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let dataSource: DataSource;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  dataSource = await connectDataSource(testDatabase.url, [Sample]);
  database = new Database(dataSource);
  await dataSource.query(TABLE);
});
beforeEach(async () => {
  await dataSource.query('TRUNCATE samples');
});
afterAll(async () => {
  await dataSource.destroy();
  await testDatabase.drop();
});

const samples = () => dataSource.getRepository(Sample);

test('a repository reads what it wrote, and SQL reads the same', async () => {
  await samples().insert(SAMPLE);
  const { secret: _, ...visible } = SAMPLE;
  const [read] = await samples().find();
  expect({ ...read }).toEqual(visible);
  expect(await database.query(SQL_ROW, {})).toEqual([visible]);
});

test.each(['UTC', 'Asia/Kolkata', 'America/St_Johns'])(
  'an instant has the same text by repository and by SQL, to the millisecond, in %s',
  async (zone) => {
    await samples().insert(SAMPLE);
    await database.transaction(async ({ query, manager }) => {
      await manager.query(`SET LOCAL TIME ZONE '${zone}'`);
      await manager.query(`UPDATE samples SET an_instant = '2026-03-29 01:59:59.123999+05:30'`);
      const [read] = await manager.find(Sample);
      const [row] = await query<{ instant: Date }>(SQL_ROW, {});
      expect(JSON.stringify(read?.instant)).toBe('"2026-03-28T20:29:59.123Z"');
      expect(JSON.stringify(row?.instant)).toBe('"2026-03-28T20:29:59.123Z"');
    });
  },
);

describe('a bigint', () => {
  test.each([0, -1, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER])(
    'is the number %d',
    async (bigint) => {
      await samples().insert({ ...SAMPLE, bigint, perhapsBigint: bigint });
      expect(await samples().findOneByOrFail({ bigint })).toMatchObject({ bigint, perhapsBigint: bigint });
    },
  );

  test.each(['9007199254740992', '9007199254740993', '-9223372036854775808'])(
    'beyond a safe integer is not read: %s',
    async (bigint) => {
      await samples().insert(SAMPLE);
      await dataSource.query('UPDATE samples SET a_bigint = $1', [bigint]);
      await expect(samples().find()).rejects.toThrow(RangeError);
    },
  );

  test.each([2 ** 53, 0.5, NaN])('is not written as %d', async (bigint) => {
    await expect(samples().insert({ ...SAMPLE, bigint })).rejects.toThrow(RangeError);
    await samples().insert(SAMPLE);
    await expect(samples().update({ sampleNo: 1 }, { bigint })).rejects.toThrow(RangeError);
    await expect(samples().findOneBy({ bigint })).rejects.toThrow(RangeError);
  });
});

test('a secret is written, and no repository reads it', async () => {
  await samples().insert(SAMPLE);
  expect(await dataSource.query('SELECT a_secret FROM samples')).toEqual([{ a_secret: 'planted' }]);
  const reads = [
    samples().find(),
    samples().findOneBy({ sampleNo: 1 }),
    samples().createQueryBuilder('sample').getMany(),
    database.transaction(({ manager }) =>
      manager.findOne(Sample, { where: { sampleNo: 1 }, lock: { mode: 'pessimistic_write' } }),
    ),
  ];
  const read = JSON.stringify(await Promise.all(reads));
  expect(read).toContain('Ünïcode');
  expect(read).not.toContain('planted');
});
