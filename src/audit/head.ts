import type { Witness } from './entry.js';

const HEAD = /^(\d{4}-\d{2}-\d{2})\/([1-9]\d{0,8})\/([0-9a-f]{64})$/;

/** The text form of a head, `DAY/POSITION/HASH`, in command output and in `AUDIT_HEAD_FILE`. */
export function headText({ day, position, hash }: Witness): string {
  return `${day}/${position}/${hash}`;
}

/** @returns undefined if the text is not a head */
export function parseHead(text: string): Witness | undefined {
  const [, day, position, hash] = HEAD.exec(text) ?? [];
  if (day === undefined || position === undefined || hash === undefined) return undefined;
  return { day, position: Number(position), hash };
}
