import { expect, test } from 'vitest';
import { jsonText } from './json-view.tsx';

test.each([
  ['{"a":[1]}', '{\n  "a": [\n    1\n  ]\n}'],
  ['{ "a" : 1 }', '{\n  "a": 1\n}'],
  ['not JSON', 'not JSON'],
  ['{"balance":9007199254740993}', '{"balance":9007199254740993}'],
  ['{"a":1,"a":2}', '{"a":1,"a":2}'],
  [{ a: 1 }, '{\n  "a": 1\n}'],
  [undefined, ''],
])('%j is shown as %j', (value, text) => {
  expect(jsonText(value)).toBe(text);
});
