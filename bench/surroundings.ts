import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Surroundings } from './contestants.js';
import { Operator } from './operator.process.js';
import { type Postgres, startPostgres } from './postgres.js';

/** The environment of a benchmark. The caller stops the contestants that it starts. */
export interface BenchEnvironment {
  readonly postgres: Postgres;
  readonly operator: Operator;
  readonly surroundings: Surroundings;
}

/**
 * Runs the work with a PostgreSQL, an operator and a folder.
 * @param settings of PostgreSQL
 */
export async function withSurroundings<T>(
  name: string,
  work: (environment: BenchEnvironment) => Promise<T>,
  settings?: Readonly<Record<string, string>>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `croupier-${name}-`));
  const postgres = await startPostgres(folder, settings);
  const operator = await Operator.start();
  try {
    const surroundings = { postgresUrl: postgres.url, operatorUrl: operator.url, folder };
    return await work({ postgres, operator, surroundings });
  } finally {
    operator.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The machine of the measurement. */
export function machineOf({ version }: Postgres) {
  return { cores: cpus().length, cpu: cpus()[0]?.model, node: process.version, postgres: version };
}

const RESULTS = join(import.meta.dirname, '../../results');

/**
 * Writes a file to bench/results.
 * @returns its path
 */
export async function writeResult(file: string, text: string): Promise<string> {
  await mkdir(RESULTS, { recursive: true });
  await writeFile(join(RESULTS, file), text);
  return join(RESULTS, file);
}
