import type { OpenAPIObject } from '@nestjs/swagger';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { documentScript, pageHtml, sharedAssets } from '../../openapi/pages/page.js';
import { Representation } from '../../openapi/pages/representation.js';
import { appliesTo, type FaultName, FAULTS } from './faults.js';
import type { OpenRoute } from '../open-route.js';
import type { FaultRules } from './fault-rules.js';

export const FAULTS_PATH = '/sandbox/faults';

/**
 * Creates a handler that serves the documents of a counterpart's faults and open routes: `/docs`, `/docs-json` and what
 * the page loads. The handler returns false for any other request.
 */
export function faultPages(
  title: string,
  rules: FaultRules,
  routes: readonly OpenRoute[] = [],
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const spec = () => document(title, rules, routes);
  const pages = new Map<string, Representation>([
    ['/docs', pageHtml(title, 'document.js', (name) => `/docs/${name}`)],
    ['/docs/document.js', documentScript(spec, { sandbox: true })],
    ['/docs-json', new Representation('application/json; charset=utf-8', () => JSON.stringify(spec()))],
    ...[...sharedAssets()].map(([name, asset]) => [`/docs/${name}`, asset] as const),
  ]);
  return (request, response) => {
    const page = request.method === 'GET' ? pages.get(request.url ?? '') : undefined;
    if (!page) return false;
    const { status, headers, body } = page.answer(request);
    response.writeHead(status, headers).end(body);
    return true;
  };
}

function document(title: string, { operations }: FaultRules, routes: readonly OpenRoute[]): OpenAPIObject {
  const names = (Object.keys(FAULTS) as FaultName[]).filter((name) =>
    operations.some((operation) => appliesTo(name, operation)),
  );
  const table = names.map((name) => `| \`${name}\` | ${applied(name, operations)} | ${FAULTS[name].does} |`);
  const rule = {
    type: 'object',
    required: ['fault'],
    additionalProperties: false,
    properties: {
      fault: { type: 'string', enum: names, example: 'book-and-answer-500' },
      on: {
        type: 'string',
        enum: operations,
        description: 'The operation; by default, all to which the fault applies.',
        example: operations[0],
      },
      playerRefPrefix: {
        type: 'string',
        description: 'The prefix of the playerRef; by default, every player.',
        example: 'player-',
      },
      nth: {
        type: 'integer',
        minimum: 1,
        default: 1,
        description: 'The first matching call that misbehaves: 2 for the second BET.',
      },
      times: {
        type: 'integer',
        minimum: 1,
        default: 1,
        description: 'The number of matching calls that misbehave from then on.',
      },
      ms: {
        type: 'integer',
        minimum: 0,
        maximum: 60_000,
        default: 2_000,
        description:
          'The duration of `answer-slowly`, or the delay of `book-late` after the time-out, in milliseconds.',
      },
    },
  };
  const counted = {
    ...rule,
    properties: {
      ...rule.properties,
      matched: { type: 'integer', description: 'The number of calls that have matched the rule.' },
      applied: {
        type: 'integer',
        description:
          'The number of calls that have misbehaved because of it, without those on which the fault had no effect.',
      },
    },
  };
  const rulesOf = (item: object) => ({
    type: 'object',
    required: ['rules'],
    properties: { rules: { type: 'array', maxItems: 100, items: item } },
  });
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  const listed = { 200: { description: 'The current rules.', ...json(rulesOf(counted)) } };
  const error = {
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'string', example: 'rules[0].playerRefPrefix must be a non-empty string' } },
  };
  const operation = (operationId: string, summary: string) => ({
    tags: ['faults'],
    operationId,
    summary,
    responses: listed,
  });
  return {
    openapi: '3.0.3',
    info: { title, version: '1', description: [...INTRODUCTION, ...table].join('\n') },
    tags: [{ name: 'faults', description: 'The rules by which this counterpart misbehaves.' }],
    paths: {
      [FAULTS_PATH]: {
        get: operation('listFaults', 'Lists the rules with their counts of calls'),
        put: {
          ...operation('replaceFaults', 'Replaces all rules'),
          requestBody: { required: true, ...json(rulesOf(rule)) },
          responses: {
            ...listed,
            400: { description: 'A rule is invalid; nothing has changed.', ...json(error) },
          },
        },
        delete: operation('clearFaults', 'Removes all rules'),
      },
      ...Object.fromEntries(routes.map((route) => [route.path, { get: route.operation }])),
    },
  };
}

const INTRODUCTION = [
  'This counterpart of the sandbox misbehaves on request, in one of three ways:',
  '',
  '- **by a header**: `X-Request-Id: fault.NAME.anything` on a call to the platform, which passes it on; or',
  '  `X-Sandbox-Fault: NAME` on a call to this counterpart;',
  '- **by the player**: `playerRef` begins with `fault-NAME-`; the first call of each transaction, grant, cancel and',
  '  revocation misbehaves, so that its repetition succeeds;',
  '- **by a rule** that is set here, until the process ends.',
  '',
  '| fault | operations | what it does |',
  '| ----- | ---------- | ------------ |',
];

function applied(name: FaultName, operations: readonly string[]): string {
  const possible = operations.filter((operation) => appliesTo(name, operation));
  return possible.length === operations.length ? 'all' : possible.join(', ');
}
