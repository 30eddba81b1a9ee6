const TEMPLATE = '0000-00-00T00:00:00';
/** Where a local time may end and be whole: after the day, the minute, the second. */
const WHOLE_LENGTHS = [10, 16, 19];

/** Whether the text is the beginning of a time that was cut off: what a file that was half written ends with. */
export function isCutOff(text: string): boolean {
  if (WHOLE_LENGTHS.includes(text.length)) return false;
  return TEMPLATE.startsWith(text.replaceAll(/\d/g, '0').replace(' ', 'T'));
}
