import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { keptByNpm } from '../config/environment.js';
import { failureText } from './failure-text.js';
import { visible, visibleLines } from './visible.js';

/** The exit status of a command that could not run, for example because of its arguments. */
const COULD_NOT_RUN = 2;

export type Print = (line: string) => void;

type OptionsConfig = NonNullable<ParseArgsConfig['options']>;

interface CommandLine<Options extends OptionsConfig> {
  /** The script. */
  readonly name: string;
  /** What `--help` prints. */
  readonly help: string;
  /** Besides `--help`. */
  readonly options: Options;
}

type Values<Options extends OptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Options; strict: true; allowPositionals: false }>
>['values'];

/** Names what is wrong with the arguments, in one line. */
export class UsageError extends Error {}

/**
 * Reads the process's arguments. `--help` anywhere wins over all others, so that it never does anything: its text is
 * printed. An argument that is unknown or lacks its value is refused with one line and the exit status 2.
 * @returns undefined if there is nothing to run
 */
export function readArguments<const Options extends OptionsConfig>(
  command: CommandLine<Options>,
): Values<Options> | undefined {
  tolerateBrokenOutput(command);
  const args = process.argv.slice(2);
  if (args.some((argument) => argument === '--help' || argument === '-h')) {
    process.stdout.write(`${command.help}\n`);
    return undefined;
  }
  try {
    refuseKeptOptions(command, args);
    return parseArgs({ args, options: command.options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    fail(command, new UsageError(firstSentence(failureText(error))));
    return undefined;
  }
}

/**
 * Runs a command with the process's arguments, and sets the exit status: that of `run`, 0 without one, and 2 if the
 * command fails, which prints one line.
 */
export async function runCommand<const Options extends OptionsConfig>(
  command: CommandLine<Options>,
  run: (values: Values<Options>, print: Print) => Promise<number> | Promise<void>,
): Promise<void> {
  const values = readArguments(command);
  if (!values) return;
  try {
    process.exitCode = (await run(values, (line) => void process.stdout.write(`${visible(line)}\n`))) ?? 0;
  } catch (error) {
    fail(command, error);
  }
}

/**
 * Whether this process was started with the module as its program.
 * @param moduleUrl `import.meta.url`
 */
export function isProgram(moduleUrl: string): boolean {
  return realpathSync(process.argv[1] ?? '') === fileURLToPath(moduleUrl);
}

function fail({ name }: CommandLine<OptionsConfig>, error: unknown): void {
  const more = error instanceof UsageError ? `; see npm run ${name} -- --help` : '';
  process.stderr.write(`${name}: ${visibleLines(failureText(error))}${more}\n`);
  process.exitCode = COULD_NOT_RUN;
}

/** @throws UsageError if npm has kept an option for itself, without which the command would do something else */
function refuseKeptOptions({ name, options }: CommandLine<OptionsConfig>, args: readonly string[]): void {
  for (const option of Object.keys(options)) {
    const isGiven = args.some((argument) => argument.split('=', 1)[0] === `--${option}`);
    if (isGiven || !keptByNpm(name, option)) continue;
    throw new UsageError(`npm has kept --${option} for itself: npm run ${name} -- --${option}`);
  }
}

/** Node adds advice to some messages that does not apply to commands without positional arguments. */
function firstSentence(message: string): string {
  const [line = ''] = message.split('\n', 1);
  return line.split('. ', 1)[0]!.replace(/\.$/, '');
}

/**
 * Keeps the process alive when standard output or standard error cannot be written. A reader that has ended does not need
 * the rest. With any other error, such as that of a full disk, the output is incomplete, and the command has failed.
 */
function tolerateBrokenOutput(command: CommandLine<OptionsConfig>): void {
  process.stderr.on('error', () => undefined);
  let failed = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (failed || error.code === 'EPIPE') return;
    failed = true;
    fail(command, error);
    process.once('exit', () => (process.exitCode = COULD_NOT_RUN));
  });
}
