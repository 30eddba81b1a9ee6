import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { HEADER } from '../../src/reconciliation/statement.js';
import { ADMIN_KEY, bearer, CSV, OPERATOR, PROVIDER, useWorld } from '../world/world.js';

const PATH = '/v1/admin/reconciliations';
const QUERY = `operatorId=${OPERATOR}&from=2026-03-01&to=2026-04-01`;
const MIB = 1024 * 1024;

const world = useWorld();

const lineOf = (n: number) => `${PROVIDER},none-${n},BET,,player,EUR,100,APPROVED,2026-03-02T00:00:00Z\n`;

async function post(body: string | ReadableStream) {
  const response = await fetch(`${world.url}${PATH}?${QUERY}`, {
    method: 'POST',
    headers: { ...bearer(ADMIN_KEY), 'Content-Type': 'text/csv' },
    body,
    duplex: 'half',
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

test('the first ten thousand findings are stored and recorded, and the report says that there are more', async () => {
  const body = `${HEADER}\n${Array.from({ length: 10_003 }, (_, n) => lineOf(n)).join('')}`;
  const { status, json } = await post(body);
  expect(status).toBe(201);
  expect(json).toMatchObject({
    lines: 10_003,
    findings: { 'missing-at-platform': 10_003 },
    findingsTotal: 10_003,
    findingsStored: 10_000,
    findingsCut: true,
  });
  const path = `${PATH}/${String(json['reconciliationId'])}/findings`;
  const csv = await world.admin('GET', path, undefined, CSV);
  const records = csv.text.trimEnd().split('\r\n').slice(1);
  expect(records).toHaveLength(10_000);
  expect(new Set(records).size).toBe(10_000);
}, 120_000);

test('a chunked statement is refused as soon as it exceeds 64 MiB, and nothing is stored', async () => {
  let sentBytes = 0;
  // Few, long lines take less time.
  const [id, player] = ['i'.repeat(240), 'p'.repeat(256)];
  function* statement() {
    yield Buffer.from(`${HEADER}\n`);
    for (let n = 0; sentBytes < 80 * MIB; n += 1) {
      const line = `${id},${id}-${n},BET,${id},${player},EUR,100,APPROVED,${id}\n`;
      sentBytes += line.length;
      yield Buffer.from(line);
    }
  }
  const { status, json } = await post(Readable.toWeb(Readable.from(statement())) as ReadableStream);
  expect({ status, json }).toEqual({ status: 413, json: { error: 'the request body is too large' } });
  expect(sentBytes).toBeLessThan(80 * MIB);
  const { json: stored } = await world.admin('GET', `${PATH}?limit=5`);
  expect((stored['items'] as object[]).length).toBeLessThanOrEqual(1);
}, 600_000);
