import { expect, test } from 'vitest';
import { instantIn, lineIn, linesIn } from './form-field.tsx';

function formOf(value: string): FormData {
  const form = new FormData();
  form.set('field', value);
  return form;
}

test.each([
  ['ticket 4711', 'ticket 4711', 'ticket 4711'],
  [' ticket 4711,\r\n\tzero too many\n', 'ticket 4711, zero too many', 'ticket 4711,\n zero too many'],
  [' \n ', '', ''],
])('%j is sent as %j or, if lines are kept, as %j', (typed, line, lines) => {
  expect(lineIn(formOf(typed), 'field')).toBe(line);
  expect(linesIn(formOf(typed), 'field')).toBe(lines);
});

test('what is no time is refused, and does not break the dialog', () => {
  expect(instantIn(formOf(''), 'field')).toBeUndefined();
  expect(() => instantIn(formOf('275760-12-31T07:00'), 'field')).toThrow('Enter a whole date and time');
});
