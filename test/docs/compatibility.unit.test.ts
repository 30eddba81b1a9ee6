import { describe, expect, test } from 'vitest';
import { breakingChanges, breakingChangesOfCalls, type Described } from './compatibility.js';

/** A document with everything that is compared. */
const document = () => ({
  servers: [{ url: '/' }],
  paths: {
    '/things': {
      post: {
        operationId: 'addThing',
        'x-needed-role': 'support',
        security: [{ key: [] }],
        parameters: [
          { $ref: '#/components/parameters/Id' },
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 500 } },
        ],
        requestBody: {
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Request' } } },
        },
        responses: {
          200: {
            headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Answer' } } },
          },
          404: {
            headers: {
              'X-Error-Code': { schema: { type: 'string', enum: ['GONE', 'UNKNOWN'] } },
              'X-Next-Action': { schema: { type: 'string', enum: ['fix-request'] } },
            },
          },
        },
      },
    },
  },
  webhooks: {
    '/told': {
      post: {
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Answer' } } } },
        responses: { 200: {} },
      },
    },
  },
  components: {
    securitySchemes: {
      signature: { type: 'apiKey', in: 'header', name: 'X-Signature', description: 'words' },
    },
    headers: { 'X-Request-Id': { schema: { type: 'string' } } },
    parameters: { Id: { name: 'X-Id', in: 'header', required: true, schema: { type: 'string' } } },
    schemas: {
      Request: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', pattern: '^[a-z]+$' },
          kind: { type: 'string', enum: ['A', 'B'] },
          choice: {
            oneOf: [{ $ref: '#/components/schemas/One' }, { $ref: '#/components/schemas/Two' }],
            discriminator: {
              propertyName: 'case',
              mapping: { ONE: '#/components/schemas/One', TWO: '#/components/schemas/Two' },
            },
          },
          amounts: { type: 'array', items: { type: 'integer', format: 'int64', minimum: 0 } },
          count: { type: 'integer', default: 1 },
        },
      },
      One: {
        type: 'object',
        required: ['case'],
        properties: { case: { type: 'string', enum: ['ONE'] }, size: { type: 'integer', minimum: 0 } },
      },
      Two: { type: 'object', required: ['case'], properties: { case: { type: 'string', enum: ['TWO'] } } },
      Answer: {
        type: 'object',
        required: ['id'],
        properties: {
          id: { type: 'string' },
          state: { type: 'string', enum: ['OPEN', 'CLOSED'] },
          parent: { $ref: '#/components/schemas/Answer' },
          notes: { type: 'array', items: { type: 'string' } },
          one: { anyOf: [{ $ref: '#/components/schemas/Nested' }, { type: 'null' }] },
        },
      },
      Nested: { type: 'object', required: ['sum'], properties: { sum: { type: 'integer' } } },
    },
  },
});

type Whole = ReturnType<typeof document>;
const changed = (change: (whole: Whole) => unknown): Described => {
  const whole = document();
  change(whole);
  return whole as unknown as Described;
};
const before = document() as unknown as Described;

/** `any` part of a document, because its type lacks some fields. */
const open = (part: object) => part as Record<string, unknown>;

test.each<[string, (whole: Whole) => unknown]>([
  ['nothing', () => undefined],
  ['a new path', ({ paths }) => (open(paths)['/others'] = { get: {} })],
  ['a new optional field of a request', (w) => (open(w.components.schemas.Request.properties)['more'] = {})],
  ['a new field of an answer', (w) => (open(w.components.schemas.Answer.properties)['more'] = {})],
  [
    'a new case of a request',
    ({ components: { schemas } }) => {
      open(schemas)['Three'] = {};
      schemas.Request.properties.choice.oneOf.push({ $ref: '#/components/schemas/Three' });
      open(schemas.Request.properties.choice.discriminator.mapping)['THREE'] = '#/components/schemas/Three';
    },
  ],
  ['a new value of a request', (w) => w.components.schemas.Request.properties.kind.enum.push('C')],
  ['a value less in an answer', (w) => w.components.schemas.Answer.properties.state.enum.pop()],
  ['a request that requires less', (w) => (w.components.schemas.Request.required = [])],
  ['an answer that promises more', (w) => w.components.schemas.Answer.required.push('state')],
  [
    'wider bounds of a parameter',
    (w) => (open(w.paths['/things'].post.parameters[1]!.schema!)['maximum'] = 1000),
  ],
  ['a new status', (w) => (open(w.paths['/things'].post.responses)['409'] = {})],
  [
    'a new error code',
    (w) => w.paths['/things'].post.responses[404].headers['X-Error-Code'].schema.enum.push('MOVED'),
  ],
  ['a new server', (w) => w.servers.push({ url: '/v2' })],
  ['other words of a security scheme', (w) => (w.components.securitySchemes.signature.description = 'other')],
  ['other words', (w) => (open(w.components.schemas.Request)['description'] = 'other')],
])('%s is compatible', (_, change) => {
  expect(breakingChanges(before, changed(change))).toEqual([]);
});

describe('a breaking change', () => {
  const ANSWERS = ['POST /things 200', 'webhook POST /told body'];
  test.each<[string[], (whole: Whole) => unknown]>([
    [['POST /things was removed'], (w) => delete open(w.paths)['/things']],
    [['webhook POST /told was removed'], (w) => delete open(w.webhooks)['/told']],
    [
      ['POST /things does not answer 404 any more'],
      (w) => delete open(w.paths['/things'].post.responses)['404'],
    ],
    [['POST /things has other security'], (w) => (w.paths['/things'].post.security = [])],
    [['POST /things has another operationId'], (w) => (w.paths['/things'].post.operationId = 'createThing')],
    [['POST /things has another x-needed-role'], (w) => (w.paths['/things'].post['x-needed-role'] = 'admin')],
    [['POST /things requires a body'], (w) => (open(w.paths['/things'].post.requestBody)['required'] = true)],
    [['POST /things lost its query limit'], (w) => w.paths['/things'].post.parameters.pop()],
    [
      ['POST /things requires its query limit'],
      (w) => (open(w.paths['/things'].post.parameters[1]!)['required'] = true),
    ],
    [
      ['POST /things query limit has other bounds'],
      (w) => (open(w.paths['/things'].post.parameters[1]!.schema!)['maximum'] = 100),
    ],
    [['POST /things body.kind became required'], (w) => w.components.schemas.Request.required.push('kind')],
    [
      ['POST /things body.kind was removed'],
      (w) => delete open(w.components.schemas.Request.properties)['kind'],
    ],
    [
      ['POST /things body.kind has other values'],
      (w) => w.components.schemas.Request.properties.kind.enum.pop(),
    ],
    [
      ['POST /things body.name has another pattern'],
      (w) => (w.components.schemas.Request.properties.name.pattern = '^[a-y]+$'),
    ],
    [
      ['POST /things body.amounts[] has other bounds'],
      (w) => (w.components.schemas.Request.properties.amounts.items.minimum = 1),
    ],
    [
      ['POST /things body.amounts[] has another format'],
      (w) => (w.components.schemas.Request.properties.amounts.items.format = 'int32'),
    ],
    [
      ['POST /things body.count has another default'],
      (w) => (w.components.schemas.Request.properties.count.default = 2),
    ],
    [
      ANSWERS.map((at) => `${at}.one(Nested).sum may be absent now`),
      (w) => w.components.schemas.Nested.required.pop(),
    ],
    [
      ANSWERS.map((at) => `${at}.one may be Two now`),
      (w) => w.components.schemas.Answer.properties.one.anyOf.push({ $ref: '#/components/schemas/Two' }),
    ],
    [
      ['POST /things body.amounts[] has another type'],
      (w) => (w.components.schemas.Request.properties.amounts.items.type = 'string'),
    ],
    [
      ['POST /things body.choice is not accepted as TWO any more'],
      (w) => delete open(w.components.schemas.Request.properties.choice.discriminator.mapping)['TWO'],
    ],
    [
      ['POST /things body.choice(ONE).size became required'],
      (w) => w.components.schemas.One.required.push('size'),
    ],
    [
      ['POST /things body.choice(ONE).size has other bounds'],
      (w) => (w.components.schemas.One.properties.size.minimum = 1),
    ],
    [
      [
        'POST /things body.choice has another oneOf',
        'POST /things body.choice has another discriminator',
        'POST /things body.choice is not accepted as ONE any more',
        'POST /things body.choice is not accepted as TWO any more',
      ],
      (w) => {
        delete open(w.components.schemas.Request.properties.choice)['oneOf'];
        delete open(w.components.schemas.Request.properties.choice)['discriminator'];
      },
    ],
    [ANSWERS.map((at) => `${at}.id may be absent now`), (w) => w.components.schemas.Answer.required.pop()],
    [
      ANSWERS.map((at) => `${at}.state was removed`),
      (w) => delete open(w.components.schemas.Answer.properties)['state'],
    ],
    [
      ANSWERS.map((at) => `${at}.state has other values`),
      (w) => w.components.schemas.Answer.properties.state.enum.push('LOST'),
    ],
    [
      ANSWERS.map((at) => `${at}.id has another type`),
      (w) => (open(w.components.schemas.Answer.properties.id)['type'] = ['string', 'null']),
    ],
    [
      ANSWERS.map((at) => `${at}.notes[] has no schema any more`),
      (w) => delete open(w.components.schemas.Answer.properties.notes)['items'],
    ],
    [
      ['POST /things 200 lost its application/json'],
      (w) => delete open(w.paths['/things'].post.responses[200])['content'],
    ],
    [
      ['POST /things 200 has no schema any more'],
      (w) => delete open(w.paths['/things'].post.responses[200].content['application/json'])['schema'],
    ],
    [
      ['POST /things 200 lost its header X-Request-Id'],
      (w) => delete open(w.paths['/things'].post.responses[200])['headers'],
    ],
    [
      ['POST /things 200 X-Request-Id has another type'],
      (w) => (w.components.headers['X-Request-Id'].schema.type = 'integer'),
    ],
    [
      ['POST /things 404 X-Error-Code is never UNKNOWN any more'],
      (w) => w.paths['/things'].post.responses[404].headers['X-Error-Code'].schema.enum.pop(),
    ],
    [
      [
        'POST /things 404 X-Next-Action is never fix-request any more',
        'POST /things 404 X-Next-Action has other values',
      ],
      (w) =>
        (w.paths['/things'].post.responses[404].headers['X-Next-Action'].schema.enum = ['wait-then-retry']),
    ],
    [['the server / was removed'], (w) => (w.servers[0]!.url = '/api')],
    [
      ['the security scheme signature changed'],
      (w) => (w.components.securitySchemes.signature.name = 'X-Other-Signature'),
    ],
    [
      ['the security scheme signature changed'],
      (w) => delete open(w.components.securitySchemes)['signature'],
    ],
  ])('%j', (expected, change) => {
    expect(breakingChanges(before, changed(change))).toEqual(expected);
  });
});

test('an outgoing call has no case that its implementer does not know', () => {
  const calls = changed(({ components: { schemas } }) => {
    open(schemas)['Three'] = {};
    open(schemas.Request.properties.choice.discriminator.mapping)['THREE'] = '#/components/schemas/Three';
  });
  expect(breakingChangesOfCalls(before, calls)).toEqual(['POST /things body.choice may be THREE now']);
});

test('the body of an outgoing call may guarantee more, and its answer must not require more', () => {
  const calls = changed(({ components: { schemas } }) => {
    schemas.Request.required.push('kind');
    schemas.Answer.required.push('state');
  });
  expect(breakingChangesOfCalls(before, calls)).toEqual(['POST /things 200.state became required']);
});
