/** Deepest nesting that is searched; much deeper JSON would exhaust the stack. */
const MAX_DEPTH = 64;

/**
 * The strings, numbers and other characters of a JSON text, without its whitespace. A string that does not end is one
 * token, so that the search takes time linear in the text's length.
 */
export function jsonTokens(text: string): RegExpExecArray[] {
  return [...text.matchAll(/"(?:[^"\\]|\\[^]?)*"?|-?\d+(?:\.\d+)?|[^\s"]/g)];
}

/** Parses a JSON object or list; undefined if the text is neither, or is nested too deeply. */
export function jsonValue(text: string): object | undefined {
  let depth = 0;
  for (const [token] of jsonTokens(text)) {
    if (token === '[' || token === '{') depth += 1;
    if (token === ']' || token === '}') depth -= 1;
    if (depth > MAX_DEPTH) return undefined;
  }
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
