import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CATALOGUE, type ErrorCode } from '../../src/errors/catalogue.js';
import { IDENTIFIER_SCHEMA } from '../../src/api/validation/identifier.js';
import { TAGS } from '../../src/openapi/tags.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { GAME, OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import { ApiDocument, type OpenApi, queryOf } from './document.js';

const DOCUMENTS = ['docs', 'docs/provider', 'docs/operator', 'docs/admin'];
const WALLET = 'docs/operator-wallet';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let document: ApiDocument;

const world = useWorld({ DOCS_ENABLED: 'true' });
beforeAll(async () => {
  folder = await temporaryFolder();
  document = new ApiDocument((await world.request('/docs-json')).json as unknown as OpenApi);
});

afterAll(() => folder.remove());

test.each([...DOCUMENTS, WALLET])('/%s-json passes the linter', async (path) => {
  const file = join(folder.path, `${path.replaceAll('/', '-')}.json`);
  await writeFile(file, (await world.request(`/${path}-json`)).text);
  const redocly = join(process.cwd(), 'node_modules/.bin/redocly');
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const lint = promisify(execFile)(redocly, ['lint', file, '--format=stylish'], { env });
  const complaints = await lint.then(
    () => '',
    (error: unknown) => (error as { stdout: string }).stdout,
  );
  expect(complaints).toBe('');
});

test("each audience's document has only its own operations", async () => {
  for (const [page, audience] of Object.entries({
    provider: 'wallet',
    operator: 'operator',
    admin: 'admin',
  })) {
    const read = new ApiDocument((await world.request(`/docs/${page}-json`)).json as unknown as OpenApi);
    const own = document.entries.filter((entry) => entry.audience === audience);
    expect(read.entries.map(({ name }) => name)).toEqual(own.map(({ name }) => name));
    expect(own.length).toBeGreaterThan(0);
  }
});

test('every operation has one tag, which src/openapi/tags.ts declares', () => {
  const declared = TAGS.map(({ name }) => name);
  for (const { name, operation } of document.entries) {
    expect(operation.tags, name).toHaveLength(1);
    expect(declared, `the tag of ${name} is not declared in src/openapi/tags.ts`).toContain(
      operation.tags[0],
    );
  }
});

test.each(DOCUMENTS)(
  '/%s lists the tags it uses, in their order, and links to the other pages',
  async (path) => {
    const {
      paths,
      webhooks = {},
      tags,
      info,
    } = (await world.request(`/${path}-json`)).json as unknown as OpenApi;
    const items = [...Object.values(paths), ...Object.values(webhooks)];
    const used = new Set(items.flatMap((item) => Object.values(item).flatMap((operation) => operation.tags)));
    expect(tags).toEqual(TAGS.filter(({ name }) => used.has(name)));
    const links = [...info.description.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link]) => link!);
    const others = DOCUMENTS.filter((other) => other !== path).map((other) => `/${other}`);
    expect(links).toEqual(
      expect.arrayContaining([...others, `/${path}-json`, `/${path}-yaml`, '/docs/contract']),
    );
    for (const link of links) expect((await world.request(link)).status, link).toBe(200);
    expect((await world.request(`/${path}`)).text).toContain(`<title>${info.title}</title>`);
  },
);

test('every body of a request and of a success has examples that its schema accepts', () => {
  const complaints: string[] = [];
  for (const { name, path, method, operation } of document.entries) {
    const at = ['paths', path, method.toLowerCase()];
    const successes = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
    const bodies = [
      ...(operation.requestBody ? [{ place: [...at, 'requestBody'], ...operation.requestBody }] : []),
      ...successes.map((status) => ({ place: [...at, 'responses', status], ...operation.responses[status] })),
    ];
    if (successes.length === 0) complaints.push(`${name} documents no success`);
    for (const { place, content } of bodies) {
      // A 204 has no body.
      if (!content && place.at(-1) !== '204')
        complaints.push(`${name}: ${place.at(-1)} says nothing of its body`);
      for (const [type, media] of Object.entries(content ?? {})) {
        const examples = media.examples
          ? Object.values(media.examples).map(({ value }) => value)
          : [media.example];
        for (const example of examples) {
          const found = document.invalid([...place, 'content', type, 'schema'], example);
          complaints.push(...found.map((words) => `${name}: ${JSON.stringify(example)}: ${words}`));
          if (/[:[]"text"/.test(JSON.stringify(example) ?? ''))
            complaints.push(`${name}: a field has no example`);
        }
      }
    }
  }
  expect(complaints).toEqual([]);
});

/** Operations whose refusals have a message other than the catalogue's. */
const OWN_MESSAGES: Readonly<Record<string, string>> = { 'GET /metrics': 'a valid bearer token is required' };

test('every error has its code, message and next action, as in the catalogue', () => {
  for (const { name, operation } of document.entries) {
    const errors = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
    for (const [status, { headers, content, description }] of errors) {
      if (!content?.['application/json'] || name.startsWith('GET /health')) continue;
      const codes = (headers?.['X-Error-Code']?.schema?.enum ?? []) as ErrorCode[];
      expect(codes, `${name} ${status}`).not.toEqual([]);
      for (const code of codes) {
        const message = OWN_MESSAGES[name] ?? CATALOGUE[code].message;
        expect(CATALOGUE[code].status, `${name} ${code}`).toBe(Number(status));
        expect(description).toContain(`\`${code}\` (${CATALOGUE[code].nextAction}): ${message}`);
        expect(content['application/json'].examples?.[code]?.value).toEqual({ error: message });
      }
    }
  }
});

test('path parameters have examples', () => {
  const parameters = document.entries.flatMap(({ name, operation }) =>
    (operation.parameters ?? []).map((parameter) => ({ operation: name, ...parameter })),
  );
  const needed = parameters.filter((parameter) => 'in' in parameter && parameter.in === 'path');
  expect(needed.length).toBeGreaterThan(20);
  for (const parameter of needed) expect(parameter).toHaveProperty('example', expect.any(String));
});

test('filters of a list have no examples', () => {
  const queries = document.entries.flatMap(({ operation }) => queryOf(operation));
  expect(queries.length).toBeGreaterThan(30);
  for (const query of queries.filter(({ required }) => !required))
    expect(query).not.toHaveProperty('schema.example');
});

test("an administrator's operation names the role that it needs", () => {
  const keyed = document.entries.filter(({ operation }) =>
    operation.security.some((one) => 'admin-key' in one),
  );
  expect(keyed.length).toBeGreaterThan(20);
  for (const { operation } of keyed)
    expect(operation.description).toMatch(
      /Needs the role `(admin`\.|(operations|promotions|support|auditor)` or one that includes it\.)$/,
    );
});

test('the example of a launch address has the real name of the token parameter', async () => {
  const { content } = document.find('POST /v1/operator/sessions').operation.responses['201']!;
  const { launchUrl } = content!['application/json']!.example as { launchUrl: string };
  await world.admin('PUT', `/v1/admin/games/${GAME}`, {
    providerId: PROVIDER,
    name: 'Slots',
    launchUrl: 'https://play.example/slots',
  });
  const launched = (
    await world.signed(OPERATOR, '/v1/operator/sessions', {
      playerRef: 'p',
      gameId: GAME,
      currency: 'EUR',
    })
  ).json as { launchUrl: string };
  const names = (url: string) => [...new URL(url).searchParams.keys()];
  expect(names(launchUrl)).toEqual(names(launched.launchUrl));
});

test('an id in a path has a pattern', () => {
  const schemaOf = (name: string, parameter: string) =>
    (document.find(name).operation.parameters ?? []).find(
      (candidate) => 'name' in candidate && candidate.name === parameter,
    );
  expect(schemaOf('POST /v1/operator/sessions/{sessionId}/revoke', 'sessionId')).toMatchObject({
    schema: { type: 'string', format: 'uuid' },
  });
  expect(schemaOf('GET /v1/admin/free-spins/{requestRef}', 'requestRef')).toMatchObject({
    schema: { type: 'string', pattern: IDENTIFIER_SCHEMA.pattern, maxLength: 128 },
  });
});

describe('the signature', () => {
  test('is documented as it is sent: four schemes that a call needs together, and no parameters', () => {
    const signed = document.entries.filter(({ operation }) =>
      operation.security.some((one) => !('admin-key' in one)),
    );
    expect(signed.length).toBeGreaterThan(3);
    for (const { operation } of signed) {
      const places = (operation.parameters ?? []).map((parameter) => ('in' in parameter ? parameter.in : ''));
      expect(places).not.toContain('header');
      expect(operation.security).toHaveLength(1);
      const schemes = Object.keys(operation.security[0]!).map(
        (name) => document.json.components.securitySchemes[name],
      );
      expect(schemes).toMatchObject(
        ['X-Tenant-ID', 'X-Timestamp', 'X-Nonce', 'X-Signature'].map((name) => ({
          type: 'apiKey',
          in: 'header',
          name,
        })),
      );
      expect(operation.responses['401']?.content).toHaveProperty('text/plain');
    }
    expect(JSON.stringify(document.json)).not.toContain('"basic"');
  });

  test('is created by our script, and no script of another origin may run on the pages', async () => {
    const page = await world.request('/docs/provider');
    const [, address = ''] = /<script src="(.+\/sign-requests\.js)"><\/script>/.exec(page.text) ?? [];
    const policy = page.headers.get('content-security-policy');
    expect(policy).toBe(
      "default-src 'none';script-src 'self';style-src 'self' 'unsafe-inline';img-src 'self' data:;" +
        "connect-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none'",
    );
    const script = await world.request(address);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(page.text).not.toMatch(/<script>/);
  });
});
