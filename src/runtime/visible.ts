/** DEL, C1 control characters, line separators (U+2028, U+2029) and bidirectional controls. */
const UNSAFE_BEYOND_C0 = '\\x7F-\\x9F\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069';
const UNSAFE = new RegExp(`[\\0-\\x1F${UNSAFE_BEYOND_C0}]`, 'g');
/** JSON escapes C0 characters itself. The only unescaped one in a line of JSON is the line break at its end. */
const UNSAFE_IN_JSON = new RegExp(`[${UNSAFE_BEYOND_C0}]`, 'g');

/**
 * Foreign text as it may be printed, or written to a CSV, a report or a log: each character that changes how a terminal,
 * a spreadsheet or a viewer shows the text around it becomes its escape, such as `\u202e`. Contract, section 10,
 * "Foreign text".
 */
export function visible(text: string): string {
  return text.replace(UNSAFE, escapeOf);
}

/** Like `visible`, for a text of several lines, such as an error with the usage of its command. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** Like `visible`, for a line of JSON, which stays valid: a parser reads the original text. */
export function visibleJson(line: string): string {
  return line.replace(UNSAFE_IN_JSON, escapeOf);
}

/** Any escape of JSON, except line breaks in a stack: before a frame, and before the cause that pino appends. */
const ESCAPE = String.raw`\\(?!n {4}at |ncaused by: )(?:u[0-9a-fA-F]{4}|.)`;
const ESCAPED_OR_UNSAFE = new RegExp(`${ESCAPE}|[${UNSAFE_BEYOND_C0}]`, 'g');
/** The escapes of JSON that stand for a character which is visible. */
const VISIBLE_ESCAPES = ['\\"', '\\\\', '\\/'];

/** Like `visibleJson`, for a line that is parsed before it is printed: a parser reads text that is already visible. */
export function visibleParsedJson(line: string): string {
  return line.replace(ESCAPED_OR_UNSAFE, (found) => {
    if (VISIBLE_ESCAPES.includes(found)) return found;
    const text = found.startsWith('\\') ? (JSON.parse(`"${found}"`) as string) : found;
    return JSON.stringify(visible(text)).slice(1, -1);
  });
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
