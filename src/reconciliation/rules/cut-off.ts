const TEMPLATE = '0000-00-00T00:00:00';
/** Lengths of a complete local time, in characters: one that ends with the day, the minute or the second. */
const WHOLE_LENGTHS = [10, 16, 19];

/** Whether the text is a truncated time, as at the end of a file that was not written completely. */
export function isCutOff(text: string): boolean {
  if (WHOLE_LENGTHS.includes(text.length)) return false;
  return TEMPLATE.startsWith(text.replaceAll(/\d/g, '0').replace(' ', 'T'));
}
