import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Representation } from './representation.js';
import { withServedLinks } from './served-links.js';

const MARKDOWN = 'text/markdown; charset=utf-8';

/** The pages for integrators, by their address: the Markdown files of the repository from which they are served. */
const PAGES: ReadonlyMap<string, string> = new Map([
  ['/llms.txt', 'docs/llms.txt'],
  ['/docs/overview.md', 'README.md'],
  ['/docs/contract.md', 'docs/contract.md'],
  ['/docs/provider.md', 'docs/integrate/provider.md'],
  ['/docs/operator.md', 'docs/integrate/operator.md'],
  ['/docs/openapi-clients.md', 'docs/integrate/openapi-clients.md'],
  ['/docs/debug-signature.md', 'docs/integrate/debug-signature.md'],
  ['/docs/sandbox.md', 'docs/sandbox.md'],
  ['/docs/reconciliation.md', 'docs/reconciliation.md'],
  ['/docs/glossary.md', 'docs/glossary.md'],
  ['/docs/sdk.md', 'sdk/README.md'],
  ['/docs/other-languages.md', 'sdk/docs/other-languages.md'],
  ['/docs/cli.md', 'cli/README.md'],
]);
const CONTRACT = 'docs/contract.md';
const TEST_VECTORS = { address: '/docs/test-vectors.json', source: 'sdk/test-vectors.json' } as const;

/** All files that are served, as paths in the repository. The build copies them, so that it is complete on its own. */
export const SOURCES: readonly string[] = [...PAGES.values(), TEST_VECTORS.source];

/** Where the build puts the copies, with their paths in the repository. */
export const COPIES = join(import.meta.dirname, 'sources');
/** The copies of a build; else, as in tests, the repository. */
const FOLDER = existsSync(COPIES) ? COPIES : join(import.meta.dirname, '../../..');

/** The pages for integrators and their agents, by address. They link to each other by these addresses. */
export function guides(): Map<string, Representation> {
  const addresses = new Map([...PAGES].map(([address, source]) => [source, address]));
  addresses.set(TEST_VECTORS.source, TEST_VECTORS.address);
  const page = (source: string) =>
    new Representation(MARKDOWN, () => withServedLinks(read(source).toString(), source, addresses));
  return new Map([
    ...[...PAGES].map(([address, source]) => [address, page(source)] as const),
    [
      TEST_VECTORS.address,
      new Representation('application/json; charset=utf-8', () => read(TEST_VECTORS.source)),
    ],
    // As plain text, because browsers do not render Markdown.
    ['/docs/contract', new Representation('text/plain; charset=utf-8', () => read(CONTRACT))],
  ]);
}

function read(source: string): Buffer {
  return readFileSync(join(FOLDER, source));
}
