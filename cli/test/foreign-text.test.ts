import { visibleText } from '@croupier/provider-sdk';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { visibleBytes, visibleJson } from '../src/visible.js';
import { only, reportFolder } from './support/certified.js';
import { command } from './support/command.js';

/** Characters that move the cursor, begin a line, or change the order of the text. */
const EVIL = 'a\r\u001b[2K\u0007\u009b31m\u0085\u2028\u2029\u061c\u200e\u200f\u202e\u2066\u2069\ufeffb';
const SEEN =
  'a␍⟨U+001B⟩[2K⟨U+0007⟩⟨U+009B⟩31m⟨U+0085⟩⟨U+2028⟩⟨U+2029⟩⟨U+061C⟩⟨U+200E⟩⟨U+200F⟩⟨U+202E⟩⟨U+2066⟩⟨U+2069⟩⟨BOM⟩b';
const UNSAFE = /(?!\n)[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

/** A provider, or a sandbox platform, whose every answer is hostile. */
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const status = request.url === '/v1/operator/sessions' ? 201 : 500;
    response
      .writeHead(status)
      .end(JSON.stringify({ error: EVIL, sessionToken: EVIL, expiresAt: EVIL }) + tail);
  });
});
/** What follows the JSON of an answer. */
let tail = '';
let url: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

test('it is shown as symbols and code points, or escaped in JSON', () => {
  expect(visibleText(EVIL)).toBe(SEEN);
  expect(visibleText('Zoë 🎰 日本語 שלום')).toBe('Zoë 🎰 日本語 שלום');
  expect(visibleBytes(Buffer.from(EVIL))).toBe(SEEN);
  expect(visibleBytes(Buffer.from([0x61, 0xff, 0x9b]))).toBe('a⟨ff⟩⟨9b⟩');
  const json = visibleJson({ [EVIL]: [EVIL, 1] });
  expect(json).not.toMatch(UNSAFE);
  expect(JSON.parse(json)).toEqual({ [EVIL]: [EVIL, 1] });
});

test('of a server under test reaches no terminal and no report', async () => {
  const folder = await reportFolder();
  const file = (name: string) => join(folder, name);
  tail = EVIL;
  const { status, printed, complained } = await command(
    ['certify', '--webhook-base-url', url, '--tenant', 'spinwell', '--slow-ms', '20'].concat(
      ['--junit', file('junit'), '--json', file('json'), '--html', file('html')],
      only('grant-reference'),
    ),
    { secret: 'secret' },
  );
  expect([status, complained]).toEqual([1, '']);
  const reports = await Promise.all(['junit', 'json', 'html'].map((name) => readFile(file(name), 'utf8')));
  for (const each of [printed, ...reports]) {
    expect(each).toContain('⟨U+009B⟩31m');
    expect(each).not.toMatch(UNSAFE);
  }
});

test('of a sandbox platform reaches no terminal', async () => {
  const sandbox = join(await reportFolder(), 'sandbox.json');
  await writeFile(
    sandbox,
    JSON.stringify({ apiUrl: url, adminApiKey: 'k', operator: { id: 'o', secret: 's' } }),
  );
  tail = '';
  const launch = (...more: string[]) => command(['launch', '--sandbox', sandbox, ...more]);
  const [text, json] = [await launch(), await launch('--json')];
  expect(text.printed).toContain(`sessionToken  ${SEEN}`);
  expect(JSON.parse(json.printed)).toMatchObject({ sessionToken: EVIL });
  const refused = await command([
    'register',
    '--sandbox',
    sandbox,
    '--webhook-base-url',
    'http://127.0.0.1:4000',
  ]);
  expect(refused.complained).toContain('The platform answered 500');
  for (const { printed, complained } of [text, json, refused])
    expect(printed + complained).not.toMatch(UNSAFE);
});
