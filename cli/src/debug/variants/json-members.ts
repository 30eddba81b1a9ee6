import { jsonTokens } from './json-value.js';

/** A field of a JSON object, as it is spelt. */
interface JsonMember {
  name: string;
  /** Name, colon and value. */
  text: string;
  value: string;
}

/**
 * The outermost object of a JSON text, in pieces: its fields can be moved, removed or added while everything else keeps
 * its spelling.
 */
export interface JsonMembers {
  members: readonly JsonMember[];
  /** What stands between a name and its value, and between two fields. */
  colon: string;
  comma: string;
  joined(members: readonly string[]): string;
}

/** Undefined if the text is not a JSON object with at least one field. The text must be valid JSON. */
export function membersOf(text: string): JsonMembers | undefined {
  const tokens = jsonTokens(text);
  if (tokens[0]?.[0] !== '{' || tokens.length < 3) return undefined;
  const ends = boundaries(tokens);
  const members = ends.slice(1).map((end, index) => memberOf(text, tokens, ends[index]! + 1, end - 1));
  const [first, second] = members;
  if (!first) return undefined;
  const open = text.slice(0, first.start);
  const close = text.slice(members.at(-1)!.end);
  const comma = second ? text.slice(first.end, second.start) : ',';
  return {
    members,
    colon: first.colon,
    comma,
    joined: (texts) => open + texts.join(comma) + close,
  };
}

/** The positions of the tokens that open, separate and close the fields of the outermost object. */
function boundaries(tokens: readonly RegExpExecArray[]): number[] {
  let depth = 0;
  return tokens.flatMap(([token], index) => {
    if (token === '{' || token === '[') depth += 1;
    const isBoundary = depth === 1 && (token === ',' || token === '}' || index === 0);
    if (token === '}' || token === ']') depth -= 1;
    return isBoundary ? [index] : [];
  });
}

function memberOf(text: string, tokens: readonly RegExpExecArray[], from: number, to: number) {
  const [name, value, last] = [tokens[from]!, tokens[from + 2]!, tokens[to]!];
  const end = last.index + last[0].length;
  return {
    name: JSON.parse(name[0]) as string,
    text: text.slice(name.index, end),
    value: text.slice(value.index, end),
    colon: text.slice(name.index + name[0].length, value.index),
    start: name.index,
    end,
  };
}
