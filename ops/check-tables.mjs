/**
 * For `npm run deps`: each table belongs to the room that tables.json names. Reports SQL that names a table of another
 * room without a declaration, declarations that point up or that nothing uses, and tables without an owner.
 *
 * Looks for the names of tables after FROM, JOIN, INTO and the like in strings and template literals; in `@Entity`; and in
 * `from: '…'`. A fragment that a room imports is in the file of its owner, so it counts as the owner's.
 *
 * Usage: node ops/check-tables.mjs [folder of the project]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';

const folder = process.argv[2] ?? '.';
const read = (path) => readFileSync(join(folder, path), 'utf8');

/** One for each table and owner. `readers` and `writers` are the reasons of other rooms, by room. */
const declarations = Object.entries(JSON.parse(read('tables.json'))).flatMap(([owner, tables]) =>
  Object.entries(tables).map(([table, { readers = {}, writers = {} }]) => ({
    owner,
    table,
    readers,
    writers,
  })),
);
const tables = [...read('docs/schema.sql').matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gm)].map(
  ([, name]) => name,
);

const anyTable = `(${tables.join('|')})\\b`;
/** The tables of a list, such as `FROM sessions s, games g`, before the one that is found. */
const BEFORE = '(?:\\w+(?:\\s+(?:AS\\s+)?\\w+)?\\s*,\\s*)*';
const IN_SQL = new RegExp(
  `(?<=\\b(DELETE FROM|FROM|JOIN|USING|INTO|UPDATE|LOCK|TRUNCATE)\\s+(?:TABLE\\s+)?(?:ONLY\\s+)?${BEFORE})\\b${anyTable}`,
  'gi',
);
const READING = ['FROM', 'JOIN', 'USING'];
const IN_ENTITY = new RegExp(`^@Entity\\((?:\\{\\s*name:\\s*)?['"]${anyTable}`);
const IN_PROPERTY = new RegExp(`^from: ['"]${anyTable}`);

/** Every place in a source that names a table. */
function usesIn(path) {
  const source = ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true);
  const uses = [];
  const add = (node, { index }, table, kind) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart() + index);
    uses.push({ place: `${path}:${line + 1}`, room: path.split('/')[1], table, kind });
  };
  const visit = (node) => {
    if (ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node)) {
      for (const match of node.getText().matchAll(IN_SQL)) {
        add(
          node,
          match,
          match[2].toLowerCase(),
          READING.includes(match[1].toUpperCase()) ? 'readers' : 'writers',
        );
      }
    }
    const entity = ts.isDecorator(node) && IN_ENTITY.exec(node.getText());
    if (entity) add(node, entity, entity[1], 'writers');
    const property = ts.isPropertyAssignment(node) && IN_PROPERTY.exec(node.getText());
    if (property) add(node, property, property[1], 'readers');
    ts.forEachChild(node, visit);
  };
  visit(source);
  return uses;
}

const { forbidden } = createRequire(import.meta.url)('../.dependency-cruiser.cjs');

function pointsUp(room, owner) {
  return forbidden.some(
    ({ name, from, to }) =>
      name === 'dependencies-point-down' &&
      new RegExp(from.path).test(`src/${room}/`) &&
      new RegExp(to.path).test(`src/${owner}/`),
  );
}

const VERBS = { readers: 'reads', writers: 'writes' };

function problemsOfUses(uses) {
  return uses.flatMap(({ place, room, table, kind }) => {
    const owned = declarations.find((declaration) => declaration.table === table);
    if (!owned || owned.owner === room || room in owned[kind]) return [];
    return `${place}: ${room} ${VERBS[kind]} ${table}, a table of ${owned.owner}. Use a service or an SQL fragment of ${owned.owner}, or add the reason to "${kind}" in tables.json.`;
  });
}

function problemsOfOwners() {
  const withoutOne = tables.flatMap((table) => {
    const owners = declarations
      .filter((declaration) => declaration.table === table)
      .map(({ owner }) => owner);
    if (owners.length === 1) return [];
    return `tables.json: ${table} needs one owner, and has ${owners.join(' and ') || 'none'}.`;
  });
  const unknown = declarations.filter(({ table }) => !tables.includes(table));
  return [
    ...withoutOne,
    ...unknown.map(
      ({ owner, table }) => `tables.json: ${table} of ${owner} is not in docs/schema.sql. Remove it.`,
    ),
  ];
}

function problemsOfDeclarations(uses) {
  return declarations.flatMap(({ owner, table, ...others }) =>
    Object.entries(VERBS).flatMap(([kind, verb]) =>
      Object.keys(others[kind]).flatMap((room) => {
        const what = `tables.json: ${room} ${verb} ${table} of ${owner}`;
        if (pointsUp(room, owner)) {
          return `${what}, a room above it. Let ${owner} register a fragment or a function with ${room}.`;
        }
        if (uses.some((use) => use.room === room && use.table === table && use.kind === kind)) return [];
        return `${what} no longer. Remove ${room} from "${kind}".`;
      }),
    ),
  );
}

const uses = readdirSync(join(folder, 'src'), { recursive: true })
  .map((path) => `src/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.ts') && !path.startsWith('src/database/migrations/'))
  .sort()
  .flatMap(usesIn);
const problems = [...problemsOfUses(uses), ...problemsOfOwners(), ...problemsOfDeclarations(uses)];
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`✔ ${tables.length} tables are used by their rooms, or as declared`);
else process.exitCode = 1;
