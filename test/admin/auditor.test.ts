import { randomUUID } from 'node:crypto';
import { request, type RequestOptions } from 'node:http';
import { expect, test } from 'vitest';
import { ApiDocument, type OpenApi } from '../docs/document.js';
import { bearer, useWorld } from '../world/world.js';

const world = useWorld({ DOCS_ENABLED: 'true' });

/** Calls a route and drops the answer's body, because that of the stream never ends. */
function statusOf(path: string, options: RequestOptions): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(world.url + path, { ...options, agent: false }, (response) => {
      response.destroy();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end();
  });
}

/** A function that calls routes with a new key of the role, and returns the status. */
async function keyOf(role: string) {
  const headers = bearer((await world.administrator(role)).key);
  return (method: string, path: string) => statusOf(path, { method, headers });
}

test('an auditor reads everything that support reads, and changes nothing', async () => {
  const document = new ApiDocument((await world.request('/docs-json')).json as unknown as OpenApi);
  const routes = document.entries.filter(({ audience }) => audience === 'admin');
  expect(routes.length).toBeGreaterThan(60);
  const [auditor, support] = [await keyOf('auditor'), await keyOf('support')];
  for (const { name, method, path: template } of routes) {
    const path = template.replaceAll(/\{\w+\}/g, randomUUID());
    const status = await auditor(method, path);
    if (method === 'GET') expect([name, status]).toEqual([name, await support(method, path)]);
    else expect([name, status]).toEqual([name, 403]);
  }
});
