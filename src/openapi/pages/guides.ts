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

/**
 * The pages for integrators and their agents, by address. They link to each other by these addresses.
 * @param port the service's; its sandbox has the next two. 0, a port that the system chooses, leaves the pages as they are
 */
export function guides(port: number): Map<string, Representation> {
  const addresses = new Map([...PAGES].map(([address, source]) => [source, address]));
  addresses.set(TEST_VECTORS.source, TEST_VECTORS.address);
  const markdown = (source: string) => withPorts(read(source).toString(), port);
  const page = (source: string) =>
    new Representation(MARKDOWN, () => withServedLinks(markdown(source), source, addresses));
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

/** Replaces the default ports, 3000 to 3002, by those where this service and its sandbox listen. */
function withPorts(markdown: string, port: number): string {
  if (port === 0) return markdown;
  return markdown.replace(/(?<=127\.0\.0\.1:)300[0-2]\b/g, (shown) => String(port + Number(shown) - 3000));
}

function read(source: string): Buffer {
  return readFileSync(join(FOLDER, source));
}
