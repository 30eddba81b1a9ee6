import { join, relative } from 'node:path';
import { createVitest, type TestCase, type TestSpecification, type Vitest } from 'vitest/node';
import { mutated, type SqlMutant } from './mutant.js';

export const ROOT = join(import.meta.dirname, '../../..');

/** The result of some test files. */
export interface Run {
  readonly passed: number;
  /** The first test that failed, after which no other began; undefined if none failed. */
  readonly failed: string | undefined;
  /** Errors outside of tests. */
  readonly errors: readonly string[];
  readonly seconds: number;
}

/**
 * A vitest with a PostgreSQL of its own, which runs one mutant after another. It replaces the text of a mutant as it loads
 * the source, so that no file changes. All other sources stay transformed between the runs.
 */
export class Lane {
  /** Whether no further run is wanted. */
  cancelled = false;
  private vitest!: Vitest;
  private planted: SqlMutant | undefined;
  private passed = 0;
  private failed: string | undefined;

  static async open(): Promise<Lane> {
    const lane = new Lane();
    lane.vitest = await createVitest(
      'test',
      {
        root: ROOT,
        config: 'vitest.services.config.ts',
        watch: false,
        bail: 1,
        maxWorkers: 1,
        reporters: [{ onTestCaseResult: (test) => lane.count(test) }],
      },
      {
        plugins: [
          { name: 'plant-sql-mutant', enforce: 'pre', transform: (code, id) => lane.transform(code, id) },
        ],
      },
    );
    return lane;
  }

  /** Runs test files until the first failure. */
  async run(files: readonly string[], mutant?: SqlMutant): Promise<Run> {
    const startedMs = performance.now();
    this.passed = 0;
    this.failed = undefined;
    this.plant(mutant);
    const specifications = files.map((file) => this.testsIn(file));
    const { unhandledErrors } = await this.vitest.runTestSpecifications(specifications);
    return {
      passed: this.passed,
      failed: this.failed,
      errors: unhandledErrors.map((error) => (error as Error).message),
      seconds: Math.round((performance.now() - startedMs) / 1_000),
    };
  }

  /** Ends the current run, so that the lane can be closed. */
  cancel(): void {
    this.cancelled = true;
    void this.vitest.cancelCurrentRun('keyboard-input');
  }

  async close(): Promise<void> {
    await this.vitest.close();
  }

  private testsIn(file: string): TestSpecification {
    return this.vitest.getRootProject().createSpecification(join(ROOT, file));
  }

  private plant(mutant: SqlMutant | undefined): void {
    const earlier = this.planted;
    this.planted = mutant;
    for (const changed of [earlier, mutant])
      if (changed) this.vitest.invalidateFile(join(ROOT, changed.file));
  }

  private transform(code: string, id: string): string | undefined {
    const { planted } = this;
    return planted && relative(ROOT, id) === planted.file ? mutated(planted, code) : undefined;
  }

  private count(test: TestCase): void {
    const { state } = test.result();
    if (state === 'passed') this.passed += 1;
    if (state === 'failed') this.failed ??= `${test.module.relativeModuleId} › ${test.fullName}`;
  }
}
