const TEMPLATE = '0000-00-00T00:00:00';
/** Lengths of a local time that ends with its day, minute or second, in characters. Such a time counts as complete. */
const WHOLE_LENGTHS = [10, 16, 19];

/** Whether the text is a truncated time, as at the end of an incompletely written file. */
export function isCutOff(text: string): boolean {
  if (WHOLE_LENGTHS.includes(text.length)) return false;
  return TEMPLATE.startsWith(text.replaceAll(/\d/g, '0').replace(' ', 'T'));
}
