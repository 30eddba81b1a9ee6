import { expect, test } from 'vitest';
import { csvRecord } from '../../src/api/lists/csv.js';

test.each([
  ['texts', ['a', 'b c'], 'a,b c'],
  ['separators and quotes', ['a,b', 'say "x"'], '"a,b","say ""x"""'],
  [
    'control characters',
    ['a\nb', 'a\r\nb', '\u001b[2J\u0085'],
    'a\\u000ab,a\\u000d\\u000ab,\\u001b[2J\\u0085',
  ],
  ['bidirectional controls', ['1\u202e00', '\u2067x'], '1\\u202e00,\\u2067x'],
  ['such characters in JSON', [{ a: '\u202e\n' }], '"{""a"":""\\u202e\\n""}"'],
  ['absent values', [undefined, null, ''], ',,'],
  ['numbers, negative ones too', [0, -5, 9007199254740991], '0,-5,9007199254740991'],
  ['truth', [true, false], 'true,false'],
  ['a time', [new Date(0)], '1970-01-01T00:00:00.000Z'],
  ['an object', [{ a: 1 }], '"{""a"":1}"'],
  ['formulas', ['=1', '+1', '-1', '@x'], "'=1,'+1,'-1,'@x"],
  ['a formula behind a control character', ['\n=1', '\t=1', 'a\r=1'], '\\u000a=1,\\u0009=1,a\\u000d=1'],
  ['a formula behind blanks', [' =1', '\u00A0=1', '\uFEFF=1'], `"' =1","'\u00A0=1","'\uFEFF=1"`],
  ['a formula behind invisible characters', ['\u200B=1', '\u00AD\u2060@x'], "'\u200B=1,'\u00AD\u2060@x"],
  ['a formula that a semicolon makes a cell', ['a;=1', 'a; -1', ';=1'], `"a;'=1","a;' -1","';'=1"`],
  ['a formula in quotes of its own', ['a;"=1', 'a;"";"=1', '"=1'], `"a;'""=1","a;"""";'""=1","'""=1"`],
  ['semicolons and surrounding blanks', ['a;b', ' a', 'b '], '"a;b"," a","b "'],
  ['a formula in full width', ['＝1', '＋1', '－1', '＠x'], "'＝1,'＋1,'－1,'＠x"],
  ['text that only contains such signs', ['a=1', '1-2', 'x@y'], 'a=1,1-2,x@y'],
])('%s', (_, values, record) => {
  expect(csvRecord(values)).toBe(`${record}\r\n`);
});
