import { expect, test } from 'vitest';

test.each([
  ['the application', () => import('./world.js')],
  ['a database', () => import('./database.js')],
])('a unit test that imports %s fails, and learns what to do', async (_, load) => {
  await expect(load()).rejects.toThrow(
    /A unit test starts neither the application nor a database, but .* imports .* remove \.unit from the name/,
  );
});
