import { expect, test } from 'vitest';
import { transcript } from '../../src/demo/transcript-client.js';

const exchange = (text: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  path: '/v1/wallet/balance',
  requestHeaders: {},
  requestBody: undefined,
  status: 200,
  headers: new Headers(headers),
  text,
  json: {},
});

test.each([
  ['no JSON', 'a\u001b[2Jb\u202ec\nd', '    a\\u001b[2Jb\\u202ec\n    d'],
  ['JSON', '{"a":"\u009b2J"}', '    {\n      "a": "\\u009b2J"\n    }'],
])('shows the control characters of an answer that is %s', (_, text, shown) => {
  expect(transcript('The balance', exchange(text), false)).toContain(`  200\n${shown}`);
});

test('shows the control characters of a header, and keeps its own colours', () => {
  const text = transcript('The balance', exchange('{}', { 'X-Error-Code': 'A\u009bB' }), true);
  expect(text).toContain('\u001b[2m    X-Error-Code: A\\u009bB\u001b[0m');
});
