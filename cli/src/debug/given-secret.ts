import type { Mistake } from './signing.js';

/** A secret as it was given to the command, and what was found around it. */
export interface GivenSecret {
  given: string;
  /** The secret as the platform issued it: without whitespace, quotation marks or a prefix around it. */
  issued: string;
  mistakes: readonly Mistake[];
}

const AROUND = /^[\s\0\u200b\ufeff]+|(?<![\s\0\u200b])[\s\0\u200b]+$/g;
const QUOTES = /^(?:(["'`])(.*)\1|\u201c(.*)\u201d|\u2018(.*)\u2019)$/s;
const PREFIX = /^(?:(?:export\s+)?[A-Z][A-Z0-9_]*=(?=[^=])|Bearer\s+)/;

/** Separates the secret that the platform issued from what a file or a shell has put around it. */
export function readSecret(given: string): GivenSecret {
  const trimmed = given.replaceAll(AROUND, '');
  const bare = trimmed.replace(PREFIX, '');
  const [, , quoted, double, single] = QUOTES.exec(bare) ?? [];
  const unquoted = quoted ?? double ?? single ?? bare;
  const issued = unquoted.replaceAll(AROUND, '');
  // What remains if everything is removed cannot be a secret.
  if (issued === '') return { given, issued: given, mistakes: [] };
  const mistakes: Mistake[] = [];
  const add = (code: Mistake['code'], what: string) =>
    mistakes.push({
      code,
      explanation: `The secret given to this command ${what}; the secret that the platform issued does not.`,
    });
  if (trimmed !== given || issued !== unquoted) add('given-secret-whitespace', 'has whitespace around it');
  if (unquoted !== bare) add('given-secret-quoted', 'has quotation marks around it');
  if (bare !== trimmed) add('given-secret-prefix', 'has a prefix, such as the name of its variable');
  return { given, issued, mistakes };
}
