/** Rooms that import no room above them. */
const GROUND =
  '^src/(server|health|openapi|api|database|embedded-postgres|observability|errors|config|runtime|money)/';

/** Folders of the console's parts from the top down, as in console/README.md: a folder may import those after it. */
const CONSOLE_PARTS = ['frame', 'actions', 'lists', 'reading', 'forms', 'links', 'values'];

/** Rooms from the top down, as in CONTRIBUTING.md: a room may import those after it. */
const DOWNWARDS = [
  'console',
  'reconciliation',
  'live',
  'attention',
  'desk',
  'free-spins',
  'limit-changes',
  'approvals',
  'wallet',
  'limits',
  'session',
  'operator-wallet',
  'provider-callback',
  'health-scores',
  'throttling',
  'signature',
  'tenancy',
  'admin',
  'audit',
  'outbound',
  'server',
  'health',
  'openapi',
  'api',
  'embedded-postgres',
  'database',
  'observability',
  'errors',
  'runtime',
  'config',
  'money',
];

const package_ = (...names) => `(^|/)node_modules/(@types/)?(${names.join('|')})/`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'Merge two files that import each other, or move what they share to a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-circle-of-folders',
      comment:
        'A folder that depends on another is not needed by it. Move what both need to a folder below them.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that cannot be resolved would pass every other rule.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'rules-are-pure',
      comment: 'rules/ imports only rules and errors/catalogue.ts.',
      severity: 'error',
      from: { path: '^src/[^/]+/rules/' },
      to: { pathNot: ['^src/[^/]+/rules/', '^src/errors/catalogue\\.ts$'] },
    },
    {
      name: 'enter-by-the-service',
      comment: 'Stores, entities and controllers are imported only in their own room.',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/.+\\.(store|entity|controller)\\.ts$', pathNot: '^src/$1/' },
    },
    {
      name: 'enter-by-the-service',
      comment: 'Stores, entities and controllers are imported only in their own room.',
      severity: 'error',
      from: { path: '^src/[^/]+$' },
      to: { path: '^src/.+\\.(store|entity|controller)\\.ts$' },
    },
    {
      name: 'counterparts-know-no-concern',
      comment:
        'Rooms that call a counterpart return its answer as a value; the concerns decide what it means.',
      severity: 'error',
      from: { path: '^src/(outbound|operator-wallet|provider-callback)/' },
      to: { path: '^src/(wallet|session|free-spins)/' },
    },
    {
      name: 'one-way-out',
      comment:
        'An HTTP client is imported only in outbound/. The sandbox stands for other parties and has its own.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(outbound|sandbox|demo)/' },
      to: { path: package_('axios', 'undici', '@nestjs/axios') },
    },
    {
      name: 'one-way-out',
      comment: "This includes Node's own clients; their types may be imported anywhere.",
      severity: 'error',
      // The files of the server are exempt, because Node's server is in the same module as its client.
      from: {
        path: '^src/',
        pathNot: '^src/((outbound|sandbox|demo)/|server/(node-server|express-adapter)\\.ts$)',
      },
      to: { path: '^(node:)?(http|https|http2)$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'sql-at-home',
      comment: 'typeorm and pg are imported only in stores, entities, modules and database/.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['\\.(store|entity|module)\\.ts$', '^src/database/'] },
      to: { path: package_('typeorm', 'pg', '@nestjs/typeorm') },
    },
    {
      name: 'sandbox-is-a-stranger',
      comment:
        'In the product, only main.ts and the client of `npm run round` import the sandbox. The chaos runs use its ledger as that of an operator.',
      severity: 'error',
      from: { pathNot: '^(src/((sandbox|demo)/|main\\.ts$)|chaos/)' },
      to: { path: '^src/sandbox/' },
    },
    {
      name: 'sandbox-is-a-stranger',
      comment: 'The sandbox imports only the SDK and ground; it creates its tenants through the admin API.',
      severity: 'error',
      from: { path: '^src/(sandbox|demo)/' },
      to: { path: '^src/', pathNot: ['^src/(sandbox|demo)/', GROUND] },
    },
    {
      name: 'sdk-stands-alone',
      comment: "sdk/src imports only Node's own modules.",
      severity: 'error',
      from: { path: '^sdk/src/' },
      to: { pathNot: '^sdk/src/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'cli-uses-the-sdk',
      comment: "cli/src imports only Node's own modules and the SDK's public exports.",
      severity: 'error',
      from: { path: '^cli/src/' },
      to: { pathNot: '^(cli/src/|sdk/dist/esm/index\\.js$)', dependencyTypesNot: ['core'] },
    },
    {
      name: 'cli-uses-the-sdk',
      comment: 'The service and the SDK do not import the commands.',
      severity: 'error',
      from: { pathNot: '^cli/' },
      to: { path: '^cli/' },
    },
    {
      name: 'sdk-stands-alone',
      comment: 'Only signature/ and outbound/ sign and verify.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(signature|outbound|sandbox)/' },
      to: { path: ['^sdk/', '^@croupier/provider-sdk'] },
    },
    {
      name: 'console-in-layers',
      comment: 'In console/, no page imports another: what two pages share is a part.',
      severity: 'error',
      from: { path: '^console/src/pages/([^/]+)/' },
      to: { path: '^console/src/(pages/(?!$1/)|[^/]+\\.tsx$)' },
    },
    {
      name: 'console-in-layers',
      comment: 'In console/, parts import parts and the API.',
      severity: 'error',
      from: { path: '^console/src/parts/' },
      to: { path: '^console/src/(pages/|[^/]+\\.tsx$)' },
    },
    ...CONSOLE_PARTS.slice(1).map((folder, index) => ({
      name: 'console-parts-point-down',
      severity: 'error',
      from: { path: `^console/src/parts/${folder}/` },
      to: { path: `^console/src/parts/(${CONSOLE_PARTS.slice(0, index + 1).join('|')})/` },
    })),
    {
      name: 'console-in-layers',
      comment: 'In console/, the client of the API knows neither parts nor pages.',
      severity: 'error',
      from: { path: '^console/src/api/' },
      to: { path: '^console/src/(parts|pages)/' },
    },
    {
      name: 'console-is-a-client',
      comment: 'The console knows the service by its API. It shares only the currencies and the roles.',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^(src|sdk|cli)/', pathNot: '^src/(money/currencies|admin/role)\\.ts$' },
    },
    {
      name: 'console-is-a-client',
      comment: 'The service imports nothing of the console: it serves what was built.',
      severity: 'error',
      from: { pathNot: '^console/' },
      to: { path: '^console/' },
    },
    {
      name: 'console-serves-only',
      comment: 'The room that serves the console imports admin/ and ground only.',
      severity: 'error',
      from: { path: '^src/console/' },
      to: { path: '^src/', pathNot: ['^src/(console|admin)/', GROUND] },
    },
    {
      name: 'ground-knows-no-room-above',
      severity: 'error',
      from: { path: GROUND },
      to: { path: '^src/', pathNot: GROUND },
    },
    ...DOWNWARDS.slice(1).map((room, index) => ({
      name: 'dependencies-point-down',
      severity: 'error',
      from: { path: `^src/${room}/` },
      to: { path: `^src/(${DOWNWARDS.slice(0, index + 1).join('|')})/` },
    })),
  ],
  options: {
    exclude: { path: '^(bench/(dist|\\.previous)|(chaos|mutants)/dist)/' },
    doNotFollow: { path: ['node_modules', '^sdk/dist/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
