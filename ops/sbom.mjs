/**
 * Writes the software bill of materials of the service to `sbom.cdx.json`, in CycloneDX's format: the packages that npm
 * finds in the lock file, without those that only development needs. `npm sbom --omit=dev` would also leave out packages
 * that both need, such as express. The script fails if a production dependency is missing.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = 'sbom.cdx.json';
/** Marks a package that npm found among the development dependencies; it may be one of production, too. */
const DEVELOPMENT = 'cdx:npm:package:development';
/** The workspaces that are not part of the service. */
const NOT_SHIPPED = ['croupier-bench', '@croupier/cli', '@croupier/console'];

/**
 * The packages that the bundle of the console contains. npm calls them development dependencies, because nothing installs
 * them with the service. test/packaging compares the list with what the bundler has written.
 */
const BUNDLED = [
  '@preact/signals',
  '@preact/signals-core',
  'bootstrap',
  'csv-parse',
  'eventsource-parser',
  'oauth4webapi',
  'openapi-fetch',
  'preact',
  'preact-iso',
  'uplot',
];

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const manifest = read('package.json');
const { packages } = read('package-lock.json');

const isBundled = (path) => BUNDLED.some((name) => path === `node_modules/${name}`);

/** `name@version` of each package that production installs. */
const shipped = new Set(
  Object.entries(packages)
    .filter(([path, { dev }]) => path.includes('node_modules/') && (!dev || isBundled(path)))
    .map(([path, { link, resolved, version }]) => ({
      name: path.replace(/^.*node_modules\//, ''),
      version: link ? packages[resolved].version : version,
    }))
    .filter(({ name }) => !NOT_SHIPPED.includes(name))
    .map(({ name, version }) => `${name}@${version}`),
);

const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
const bill = JSON.parse(text);

/** `name@version` of a component. npm calls a workspace by the name of its folder, but its purl has the name. */
function identity({ purl }) {
  return decodeURIComponent(purl.replace(/^pkg:npm\//, ''));
}

const components = bill.components
  .filter((component) => shipped.has(identity(component)))
  .map((component) => ({
    ...component,
    properties: (component.properties ?? []).filter(({ name }) => name !== DEVELOPMENT),
  }));
const references = new Set([bill.metadata.component, ...components].map((each) => each['bom-ref']));
const dependencies = bill.dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => references.has(each)) }));
bill.metadata.component.name = manifest.name;
writeFileSync(FILE, `${JSON.stringify({ ...bill, components, dependencies }, null, 2)}\n`);

const listed = new Set(components.map(identity));
const direct = Object.entries(manifest.dependencies)
  .filter(([, version]) => !version.startsWith('file:'))
  .map(([name, version]) => `${name}@${version}`);
const missing = [...new Set([...direct, ...shipped])].filter((each) => !listed.has(each));
if (missing.length > 0) {
  console.error(`${FILE} lacks production dependencies: ${missing.join(', ')}`);
  process.exitCode = 1;
} else {
  console.log(
    `${FILE} lists ${components.length} packages, among them all ${direct.length} direct dependencies`,
  );
}
