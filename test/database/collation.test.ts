import { expect, test } from 'vitest';
import { migrate } from '../../src/database/data-source.js';
import { createMigratedDatabase, runAt } from '../world/database.js';

test('a start is refused if the collation has changed since the indexes were built', async () => {
  const database = await createMigratedDatabase();
  // As a data directory that was moved to a server with another library.
  const record = (version: string) =>
    runAt(
      database.url,
      `UPDATE pg_database SET datcollversion = ${version} WHERE datname = current_database()`,
    );
  try {
    await record(`'2.27'`);
    await expect(migrate(database.url)).rejects.toThrow(
      /^DATABASE_URL: the collation of the database has version 2\.27, that of the server [^ ]+: rebuild the indexes first [^\n]*$/,
    );
    await record('pg_database_collation_actual_version(oid)');
    expect(await migrate(database.url)).toEqual([]);
  } finally {
    await database.drop();
  }
});
