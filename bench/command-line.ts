import { parseArgs, type ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values'];

/**
 * Reads the options of the command line. With `--help` it prints the usage and ends the process; with an unknown option
 * it also prints what is wrong, and the exit status is 2.
 */
export function readOptions<const O extends Options>(usage: string, options: O): Values<O> {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } });
    if (!('help' in values)) return values;
    console.log(usage);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
  process.exit();
}
