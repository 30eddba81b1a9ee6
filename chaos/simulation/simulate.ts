import 'reflect-metadata';
import { readOptions } from '../../bench/command-line.js';
import { type Bug, BUGS } from './database.js';
import { simulate } from './simulation.js';

const USAGE = `usage: npm run simulate -- [--seed N] [--schedules N] [--seconds N] [--plant ${BUGS.join('|')}]`;

const values = readOptions(USAGE, {
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  schedules: { type: 'string', default: '100000' },
  seconds: { type: 'string', default: '60' },
  plant: { type: 'string' },
});
const [seed, schedules, seconds] = [values.seed, values.schedules, values.seconds].map(Number);
const bug = BUGS.find((known) => known === values.plant);
if (![seed, schedules, seconds].every(Number.isInteger) || bug !== (values.plant as Bug | undefined)) {
  console.error(USAGE);
  process.exit(2);
}

// Refusals are ordinary answers here, whose stacks are not needed.
Error.stackTraceLimit = 0;
console.log(`seeds from ${seed} on`);
const result = await simulate({ seed: seed!, schedules: schedules!, seconds: seconds!, bug });
console.log(
  `${result.schedules} schedules in ${result.seconds.toFixed(1)} s, ${JSON.stringify(result.coverage)}`,
);
if (result.failure) {
  console.error(
    `Schedule ${result.failure.seed} violates an invariant (--seed ${result.failure.seed} --schedules 1):`,
  );
  for (const violation of result.failure.violations) console.error(`  ${violation}`);
  process.exitCode = 1;
}
