import { main } from '../../src/main.js';

/** Runs a command line and returns its output. */
export async function command(
  args: string[],
  {
    secret,
    now = Date.now,
    usedMs = () => 0,
    progress,
  }: { secret?: string; now?: () => number; usedMs?: () => number; progress?: (line: string) => void } = {},
): Promise<{ status: number; printed: string; complained: string }> {
  const printed: string[] = [];
  const complained: string[] = [];
  const status = await main(args, {
    print: (text) => void printed.push(text),
    complain: (text) => void complained.push(text),
    environment: secret === undefined ? {} : { CROUPIER_SECRET: secret },
    colours: false,
    now,
    usedMs,
    progress,
  });
  return { status, printed: printed.join('\n'), complained: complained.join('\n') };
}
