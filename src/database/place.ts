/**
 * The sort key of an item in a list by time: its time, with microseconds, and its id, which orders items with the same
 * time.
 */
export interface Place {
  readonly at: string;
  readonly id: string;
}

/** SQL for a row's sort key as text, with the full precision of its time. `placeOf` parses this text. */
export const placeColumn = (at: string, id: string) =>
  `to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '/' || ${id} AS place`;

export function placeOf(text: string): Place {
  const [at = '', id = ''] = text.split('/');
  return { at, id };
}
