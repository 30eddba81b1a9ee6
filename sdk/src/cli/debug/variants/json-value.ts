/** Deepest nesting that is searched; deeper JSON would exhaust the stack. */
const MAX_DEPTH = 64;

/** The object or list that a text has as JSON; undefined if there is none, or it is nested too deeply. */
export function jsonValue(text: string): object | undefined {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
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
