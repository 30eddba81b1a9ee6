import { expect, test } from 'vitest';
import { transcript, TranscriptClient } from '../../src/demo/transcript-client.js';
import type { PlatformClient } from '../../src/sandbox/platform-client.js';

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

test.each([
  [
    'time',
    new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
    '"The rule" was not answered in time by http://platform: see its log.',
  ],
  [
    'connection',
    new TypeError('fetch failed'),
    'Nothing answers at http://platform: start the service with npm start.',
  ],
])('a request without an answer for lack of %s says what to do', async (_, cause, sentence) => {
  const platform = { apiUrl: 'http://platform', plain: () => Promise.reject(cause) };
  const client = new TranscriptClient(platform as unknown as PlatformClient, {
    print: () => undefined,
    colours: false,
  });
  await expect(client.configure('The rule', '/sandbox/faults', {})).rejects.toMatchObject({
    message: sentence,
    cause,
  });
});
