import { main } from '../../src/main.js';

/** How long a certification leaves a connection idle, in milliseconds: long enough for the faults of the tests. */
const IDLE_MS = 1_000;

/** Runs a command line and returns its output. */
export async function command(
  args: string[],
  {
    secret,
    now = Date.now,
    usedMs = () => 0,
    idleMs = IDLE_MS,
    progress,
    onPrinted,
  }: {
    secret?: string;
    now?: () => number;
    usedMs?: () => number;
    idleMs?: number;
    progress?: (line: string) => void;
    onPrinted?: (text: string) => void;
  } = {},
): Promise<{ status: number; printed: string; complained: string }> {
  const printed: string[] = [];
  const complained: string[] = [];
  const status = await main(args, {
    print: (text) => {
      printed.push(text);
      onPrinted?.(text);
    },
    complain: (text) => void complained.push(text),
    environment: secret === undefined ? {} : { CROUPIER_SECRET: secret },
    colours: false,
    now,
    usedMs,
    idleMs,
    progress,
  });
  return { status, printed: printed.join('\n'), complained: complained.join('\n') };
}
