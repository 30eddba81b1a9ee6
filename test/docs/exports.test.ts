import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { useWorld } from '../world/world.js';
import { breakingChanges, breakingChangesOfCalls, type Described } from './compatibility.js';

/*
 * docs/openapi/ holds the documents as the service serves them; `npm run docs:openapi` writes them. docs/openapi/released/
 * holds those of the last release, which a change may only add to.
 */

const FOLDER = join(import.meta.dirname, '../../docs/openapi');

/** The file of each document, by its path. */
const FILES = {
  '/docs-json': 'croupier.json',
  '/docs/provider-json': 'provider.json',
  '/docs/operator-json': 'operator.json',
  '/docs/admin-json': 'admin.json',
  '/docs/operator-wallet-json': 'operator-wallet.json',
};

const world = useWorld({ DOCS_ENABLED: 'true' });

const served = async (path: string) => (await world.request(path)).json as unknown as Described;
const read = (file: string) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as unknown;

test.each(Object.entries(FILES))(
  '%s is committed as docs/openapi/%s: npm run docs:openapi',
  async (path, file) => {
    const text = `${JSON.stringify(await served(path), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(join(FOLDER, file));
  },
);

describe('clients of the last release still work', () => {
  const accepted = read('released/accepted-changes.json') as Record<string, string>;
  let changes: string[];

  beforeAll(async () => {
    const [all, wallet] = await Promise.all([served('/docs-json'), served('/docs/operator-wallet-json')]);
    const inWallet = breakingChangesOfCalls(read('released/operator-wallet.json') as Described, wallet);
    changes = [
      ...breakingChanges(read('released/croupier.json') as Described, all),
      ...inWallet.map((change) => `operator-wallet: ${change}`),
    ];
  });

  test('no operation has a breaking change that is not accepted with a reason', () => {
    expect(changes.filter((change) => !(change in accepted))).toEqual([]);
  });

  test('every accepted change was made', () => {
    expect(Object.keys(accepted).filter((change) => !changes.includes(change))).toEqual([]);
  });
});
