import { freeSpins as words, problems } from '../../strings.ts';

/** Most players of a batch. */
export const MOST_PLAYERS = 1_000;
/** Longest file of players, in bytes: a thousand lines with room for other columns. */
export const MOST_BYTES = 1_048_576;

/** A line of what was pasted or of a file, with its number there. */
export interface Line {
  readonly number: number;
  readonly text: string;
}

type Fault =
  { readonly kind: 'characters' | 'length' | 'path' } | { readonly kind: 'repeated'; readonly first: number };

export interface WrongLine extends Line {
  readonly fault: Fault;
}

/** A row of a CSV file. */
interface Row {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** The lines of a text; empty ones are left out. */
export function linesOf(text: string): Line[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter((line) => line.text !== '');
}

/**
 * The column `playerRef` of a CSV file, or else its first column.
 * @throws Error whose message says why there are no lines: the file is not CSV, or the parser could not be loaded
 */
export async function linesOfCsv(csv: string): Promise<Line[]> {
  // Loaded when it is needed: most forms have no file.
  const { parse } = await import('csv-parse/browser/esm/sync').catch(() => {
    throw new Error(problems.partMissing);
  });
  let rows: readonly Row[];
  try {
    rows = parse(csv, {
      bom: true,
      delimiter: [',', ';', '\t'],
      info: true,
      relax_column_count: true,
      trim: true,
    }) as unknown as readonly Row[];
  } catch (error) {
    throw new Error(words.notCsv((error as Error).message), { cause: error });
  }
  const column = rows[0]?.record.indexOf('playerRef') ?? -1;
  return rows
    .slice(column === -1 ? 0 : 1)
    .map(({ record, info }) => ({ number: info.lines, text: record[Math.max(column, 0)] ?? '' }))
    .filter(({ text }) => text !== '');
}

/** Which lines are players, and which cannot be. The rules are those of the API for `playerRefs`. */
export function judge(lines: readonly Line[]): { players: string[]; wrong: WrongLine[] } {
  const first = new Map<string, number>();
  const wrong: WrongLine[] = [];
  for (const line of lines) {
    const fault = faultOf(line.text, first.get(line.text));
    if (fault) wrong.push({ ...line, fault });
    else first.set(line.text, line.number);
  }
  return { players: [...first.keys()], wrong };
}

function faultOf(text: string, first: number | undefined): Fault | undefined {
  if (!/^[!-~]+$/.test(text)) return { kind: 'characters' };
  if (text.length > 128) return { kind: 'length' };
  if (text === '.' || text === '..') return { kind: 'path' };
  return first === undefined ? undefined : { kind: 'repeated', first };
}
