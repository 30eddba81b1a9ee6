import { isKey } from '@croupier/provider-sdk';

/** The environment of a command. */
export interface Terminal {
  /** Prints a text of one or more lines, and adds a newline. */
  print(text: string): void;
  complain(text: string): void;
  environment: Readonly<Record<string, string | undefined>>;
  colours: boolean;
  /** Unix time in milliseconds. */
  now: () => number;
  /** Processor time that this process has used, in milliseconds: bounds long computations. */
  usedMs: () => number;
  /** How long a connection is left idle that a server must keep open, in milliseconds. Only tests set it. */
  idleMs?: number;
  /** Shows a line in place of the one before, or removes it if empty; undefined if no person watches. */
  progress: ((line: string) => void) | undefined;
}

/** The command line cannot be carried out; the message says why. Exit status 2. */
export class UsageError extends Error {}

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

export function paint(terminal: Terminal, colour: keyof typeof CODES, text: string): string {
  return terminal.colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
}

/**
 * Reads the secret from the environment. The secret is not a command-line option, because every user of the machine can
 * see the arguments of a command.
 * @throws UsageError if CROUPIER_SECRET is not set, or is blank
 */
export function secretFrom({ environment }: Terminal): string {
  const secret = environment['CROUPIER_SECRET'];
  if (!isKey(secret))
    throw new UsageError('Set CROUPIER_SECRET to the secret, exactly as it was shown at creation.');
  return secret;
}

/** @throws UsageError unless the text is a whole number from `least` to `most`, which is at most 2^53 − 1 */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`--${option} must be a whole number from ${least} to ${most}, but is "${text}".`);
}

/** The cases send multiples of an amount, and no amount or balance may exceed 2^53 − 1. */
const LARGEST_AMOUNT_MINOR = 1_000_000_000_000;

/** @throws UsageError unless the text is an amount in minor units of which the cases can send multiples */
export function amountOption(option: string, text: string, least: number): number {
  return wholeNumber(option, text, least, LARGEST_AMOUNT_MINOR);
}

/** The longest time that a timer of Node can wait, in milliseconds; it fires a longer one at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** @throws UsageError unless the text is a time in milliseconds for which a timer can wait */
export function millisecondsOption(option: string, text: string, least: number): number {
  return wholeNumber(option, text, least, LONGEST_TIMER_MS);
}

/**
 * How old the first calls of a certification are when the last cases repeat them, in milliseconds.
 * @throws UsageError unless it is a number of seconds for which a timer can wait
 */
export function patienceOption(seconds: string): number {
  return 1000 * wholeNumber('patience-seconds', seconds, 0, Math.floor(LONGEST_TIMER_MS / 1000));
}

/** Most calls that measure the latency. */
const MOST_LATENCY_CALLS = 1_000_000;

/** @throws UsageError unless it is a number of calls */
export function latencyCallsOption(calls: string): number {
  return wholeNumber('calls', calls, 1, MOST_LATENCY_CALLS);
}

/** @throws UsageError unless the text is an http(s) address without credentials, query or fragment */
export function addressOption(option: string, text: string | undefined): URL {
  if (!text) throw new UsageError(`--${option} is missing.`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash)
    return url;
  throw new UsageError(`--${option} must be http(s), without credentials, query or fragment.`);
}

/** @throws UsageError unless the text is a currency code */
export function currencyOption(text: string, option = 'currency'): string {
  if (/^[A-Z]{3}$/.test(text)) return text;
  throw new UsageError(`--${option} must be three upper-case letters.`);
}

/** @throws UsageError if the option is missing */
export function requiredOption(option: string, text: string | undefined): string {
  if (text) return text;
  throw new UsageError(`--${option} is missing.`);
}
