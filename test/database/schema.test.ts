import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMigratedDatabase } from '../world/database.js';
import { schemaOf } from '../world/schema.js';

/*
 * docs/schema.sql shows the schema that all migrations together create; `npm run docs:schema` writes it.
 */

const FILE = join(import.meta.dirname, '../../docs/schema.sql');

const HEADER = `-- The schema after all migrations, for reading. Written by \`npm run docs:schema\`; do not edit.
-- Each table is followed by its indexes and triggers. The functions are at the end.
`;

test('docs/schema.sql is the current schema: npm run docs:schema', async () => {
  const database = await createMigratedDatabase();
  try {
    await expect(`${HEADER}\n${await schemaOf(database.url)}`).toMatchFileSnapshot(FILE);
  } finally {
    await database.drop();
  }
});
