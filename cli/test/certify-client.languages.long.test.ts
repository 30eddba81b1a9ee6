import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import {
  build,
  COMPILER_PATIENCE_MS,
  type Language,
  LANGUAGES,
  lacks,
  run,
} from '../../sdk/test/support/languages.js';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { CLIENT_CASES } from '../src/certify/client/cases.js';
import { only } from './support/certified.js';
import { command } from './support/command.js';
import { CLIENTS, WEB_REQUEST_POST } from './support/documented-clients.js';

/** Time-out of one attempt, in milliseconds: long enough for a busy machine to answer. */
const ATTEMPT_MS = 2000;
/** Time-out of all cases, some of which wait for several attempts, in milliseconds. */
const PATIENCE_MS = COMPILER_PATIENCE_MS + 600_000;

// At the same time, because most cases wait for time-outs.
describe.concurrent('the documented retries', () => {
  for (const language of LANGUAGES) {
    test.skipIf(lacks(language))(`in ${language} are certified`, { timeout: PATIENCE_MS }, async () => {
      const folder = await temporaryFolder();
      const main = language === 'csharp' ? WEB_REQUEST_POST + CLIENTS[language] : CLIENTS[language];
      const client = await build(language, main, folder.path);
      const report = join(folder.path, 'report.json');
      const options = ['--attempt-ms', String(ATTEMPT_MS), '--json', report];
      const { status } = await command([
        'certify-client',
        ...options,
        ...casesFor(language),
        '--',
        ...client,
      ]);
      const { cases } = JSON.parse(await readFile(report, 'utf8')) as { cases: { outcome: string }[] };
      expect(cases.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
      expect(cases).toHaveLength(CLIENT_CASES.length - (language === 'csharp' ? 1 : 0));
      expect(status).toBe(0);
      await folder.remove();
    });
  }
});

/** The oldest client of .NET, with which the code in C# is tested, limits each wait for data, not the whole answer. */
function casesFor(language: Language): string[] {
  return language === 'csharp'
    ? only(...CLIENT_CASES.map(({ id }) => id).filter((id) => id !== 'retry-drip'))
    : [];
}

/** Time-out of a client that does not limit an endless answer, in milliseconds. */
const ENDLESS_MS = 60_000;
/** Time between two bytes of a slow answer, in milliseconds: much less than the time-out of an attempt. */
const DRIP_MS = 50;
/** Much more than a client reads and the connection buffers, and much less than arrives in the time of an attempt. */
const MOST_SENT_BYTES = 64 * 1024 * 1024;

/** The verdict of a client on a BET whose first answer has a hostile body; the platform approves the second attempt. */
async function verdictAfter(
  hostileBody: (response: ServerResponse) => void,
  client: string[],
): Promise<string> {
  let attempts = 0;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      if ((attempts += 1) === 1) return hostileBody(response);
      const { transactionId } = JSON.parse(body) as { transactionId: string };
      response.end(JSON.stringify({ transactionId, status: 'APPROVED', balance: 1 }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bet = { transactionId: 'bet-1', roundId: 'round-1', amountMinor: 1 };
  const env = {
    ...process.env,
    CROUPIER_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    CROUPIER_TENANT: 'tenant',
    CROUPIER_SECRET: 'secret',
    CROUPIER_TIMEOUT_MS: String(ATTEMPT_MS),
    CROUPIER_BET: JSON.stringify(bet),
  };
  const [program = '', ...args] = client;
  try {
    const { stdout } = await run(program, args, { env, timeout: ENDLESS_MS, killSignal: 'SIGKILL' });
    return stdout.trim();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe.concurrent('a hostile answer', () => {
  const testIn = (language: Language, title: string, expectLimit: (client: string[]) => Promise<void>) =>
    test.skipIf(lacks(language))(title, { timeout: PATIENCE_MS }, async () => {
      const folder = await temporaryFolder();
      await expectLimit(await build(language, CLIENTS[language], folder.path));
      await folder.remove();
    });

  // The client in C# leaves the request to the caller's function.
  for (const language of ['python', 'php', 'java', 'go'] as const)
    testIn(language, `that arrives slowly without an end ends the attempt in ${language}`, async (client) => {
      const drip = (response: ServerResponse) => {
        const timer = setInterval(() => response.write(' '), DRIP_MS);
        response.on('close', () => clearInterval(timer));
      };
      expect(await verdictAfter(drip, client)).toBe('approved');
    });

  // The clients in Java and C# leave the JSON to the caller's function.
  for (const language of ['python', 'php', 'go'] as const)
    testIn(language, `that is nested deeply ends the attempt in ${language}`, async (client) => {
      const nested = (response: ServerResponse) => void response.end('['.repeat(100_000));
      expect(await verdictAfter(nested, client)).toBe('approved');
    });

  for (const language of ['python', 'php', 'go'] as const)
    testIn(language, `without an end is not read in full in ${language}`, async (client) => {
      const piece = Buffer.alloc(64 * 1024, ' ');
      let sentBytes = 0;
      const flood = (response: ServerResponse) => {
        const pieces = function* () {
          for (;;) {
            sentBytes += piece.length;
            yield piece;
          }
        };
        Readable.from(pieces()).pipe(response);
      };
      expect(await verdictAfter(flood, client)).toBe('approved');
      expect(sentBytes).toBeLessThan(MOST_SENT_BYTES);
    });
});
