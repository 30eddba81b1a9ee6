// Reads what Vitest's JSON reporter wrote.
//   node .ci/results.mjs failed REPORT    prints the paths of the files that failed
//   node .ci/results.mjs counts REPORT…   prints how many tests passed, failed and were skipped; of a file that is in
//                                         several reports, the last one counts
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [what, ...reports] = process.argv.slice(2);
const files = new Map();
for (const report of reports)
  for (const file of JSON.parse(readFileSync(report, 'utf8')).testResults) files.set(file.name, file);

console.log(what === 'failed' ? failed() : counts());

function failed() {
  const names = [...files.values()].filter(({ status }) => status === 'failed').map(({ name }) => name);
  return names.map((name) => relative(process.cwd(), name)).join(' ');
}

function counts() {
  const tests = [...files.values()].flatMap(({ assertionResults }) => assertionResults);
  const having = (...statuses) => tests.filter(({ status }) => statuses.includes(status)).length;
  // A file may fail without one of its tests.
  const broken = [...files.values()].filter(
    (file) => file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed'),
  );
  return `${having('passed')} ${having('failed') + broken.length} ${having('pending', 'skipped', 'todo', 'disabled')}`;
}
