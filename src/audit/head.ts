import type { Witness } from './entry.js';

const HEAD = /^(\d{4}-\d{2}-\d{2})\/([1-9]\d{0,8})\/([0-9a-f]{64})$/;

/** A head as it is printed, and kept outside of the database: `DAY/POSITION/HASH`. */
export function headText({ day, position, hash }: Witness): string {
  return `${day}/${position}/${hash}`;
}

/** @returns undefined if the text is not a head */
export function parseHead(text: string): Witness | undefined {
  const [, day, position, hash] = HEAD.exec(text) ?? [];
  if (day === undefined || position === undefined || hash === undefined) return undefined;
  return { day, position: Number(position), hash };
}
