/** Longest address that a game may have, in characters. Contract, section 7. */
export const ROUND_DETAILS_URL_LENGTH = 1_000;

const PLACEHOLDERS = [
  'roundId',
  'playerRef',
  'sessionId',
  'transactionId',
  'gameId',
  'language',
] as const satisfies readonly string[];

/** The value of each placeholder; null if there is none. */
export type RoundDetails = { readonly [Name in (typeof PLACEHOLDERS)[number]]: string | null };

export const ROUND_DETAILS_PLACEHOLDERS = PLACEHOLDERS.map((name) => `{${name}}`).join(' ');

const PLACEHOLDER = new RegExp(`\\{(${PLACEHOLDERS.join('|')})\\}`, 'g');
/** `https` and a host without placeholders: a value must not decide whose server is opened. */
const HOST = /^https:\/\/[^/?#\\{}]+(?=[/?#]|$)/i;
const PRINTABLE_WITHOUT_BRACES = /^[!-z|~]*$/;

/** Whether it is an https address in which all braces belong to known placeholders, and none is in the host. */
export function isRoundDetailsUrl(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > ROUND_DETAILS_URL_LENGTH || !HOST.test(value)) return false;
  const filled = value.replace(PLACEHOLDER, 'x');
  return PRINTABLE_WITHOUT_BRACES.test(filled) && URL.canParse(filled);
}

/** The address with the percent-encoded values in place of its placeholders; a missing value is empty. */
export function finishedRoundDetailsUrl(template: string, values: RoundDetails): string {
  return template.replace(PLACEHOLDER, (_, name: keyof RoundDetails) =>
    encodeURIComponent(values[name] ?? ''),
  );
}
