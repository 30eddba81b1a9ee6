import { signRequest } from '@croupier/provider-sdk';
import { Agent, type IncomingMessage, request } from 'node:http';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** The routes of the recorded build, as its documents spell them. */
const ROUTES = [
  '/health/live',
  '/health/ready',
  '/metrics',
  '/v1/admin/keys',
  '/v1/admin/keys/{id}',
  '/v1/admin/audit',
  '/v1/admin/providers',
  '/v1/admin/providers/{id}',
  '/v1/admin/providers/{id}/secret/rotate',
  '/v1/admin/operators',
  '/v1/admin/operators/{id}',
  '/v1/admin/operators/{id}/secret/rotate',
  '/v1/admin/games/{gameId}',
  '/v1/admin/games',
  '/v1/wallet/session/verify',
  '/v1/operator/sessions',
  '/v1/operator/sessions/{sessionId}/revoke',
  '/v1/operator/players/{playerRef}/revoke-sessions',
  '/v1/admin/sessions',
  '/v1/admin/sessions/{sessionId}/revoke',
  '/v1/admin/callbacks',
  '/v1/admin/callbacks/{callbackId}',
  '/v1/wallet/transaction',
  '/v1/wallet/balance',
  '/v1/admin/transactions',
  '/v1/admin/transactions/{providerId}/{transactionId}',
  '/v1/admin/transactions/{providerId}/{transactionId}/resolve',
  '/v1/admin/adjustments',
  '/v1/admin/sessions/{sessionId}',
  '/v1/admin/free-spins',
  '/v1/admin/free-spins/batches',
  '/v1/admin/free-spins/batches/{batchId}',
  '/v1/admin/free-spins/{requestRef}',
  '/v1/admin/free-spins/{requestRef}/status',
  '/v1/admin/free-spins/{requestRef}/cancel',
  '/v1/admin/free-spins/{requestRef}/resend',
  '/v1/operator/free-spins',
  '/v1/operator/free-spins/batches',
  '/v1/operator/free-spins/batches/{batchId}',
  '/v1/operator/free-spins/{requestRef}',
  '/v1/operator/free-spins/{requestRef}/status',
  '/v1/operator/free-spins/{requestRef}/cancel',
  '/v1/operator/free-spins/{requestRef}/resend',
  '/v1/admin/free-spins-winnings/flagged',
  '/docs',
  '/docs-json',
];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Spellings of a path, most of which a router might match with the route. */
const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
  'as documented': (path) => path,
  'a slash at the end': (path) => `${path}/`,
  'two slashes': (path) => path.replace(/\/([^/]*)$/, '//$1'),
  'upper case': (path) => path.toUpperCase(),
  'an escaped letter': (path) => path.replace(/e(?=[^e]*$)/, '%65'),
  'an escaped slash': (path) => path.replace(/\/([^/]*)$/, '%2F$1'),
  'an invalid escape': (path) => `${path}%zz`,
  'half an escape': (path) => `${path}%`,
  'bytes that are not UTF-8': (path) => `${path}%ff`,
  'an escaped NUL': (path) => `${path}%00`,
  'a dot segment': (path) => path.replace(/\/([^/]*)$/, '/./$1'),
  'a parent segment': (path) => path.replace(/\/([^/]*)$/, '/x/../$1'),
  'a matrix parameter': (path) => `${path};a=b`,
  'a query': (path) => `${path}?unknown=1`,
  'an empty query': (path) => `${path}?`,
  'a query that is not UTF-8': (path) => `${path}?unknown=%ff`,
  'a query with half an escape': (path) => `${path}?unknown=%`,
};

/** Values of the parameters in a path. */
const PARAMETERS: Readonly<Record<string, string>> = {
  unknown: 'unknown',
  empty: '',
};

type Caller = 'nobody' | 'administrator' | 'provider' | 'operator';

export interface RecordedRequest {
  readonly caller: Caller;
  readonly method: string;
  readonly path: string;
  /** Identifies the request in the recording. */
  readonly title: string;
}

/** The callers that are compared on a route: an anonymous one, and one that its guards admit. */
function callersOf(route: string): Caller[] {
  if (route.startsWith('/v1/admin/')) return ['nobody', 'administrator'];
  if (route.startsWith('/v1/operator/')) return ['nobody', 'operator'];
  return route.startsWith('/v1/wallet/') ? ['nobody', 'provider'] : ['nobody'];
}

/** Every route × method × spelling × caller. */
export function allRequests(): RecordedRequest[] {
  return ROUTES.flatMap((route) => {
    const parameters = route.includes('{') ? Object.entries(PARAMETERS) : [['none', ''] as const];
    return parameters.flatMap(([parameter, value]) =>
      Object.entries(SPELLINGS).flatMap(([spelling, spell]) =>
        METHODS.flatMap((method) =>
          callersOf(route).map((caller) => ({
            caller,
            method,
            path: spell(route.replaceAll(/\{\w+\}/g, value)),
            title: `${method} ${route}, ${spelling}, parameter ${parameter}, ${caller}`,
          })),
        ),
      ),
    );
  });
}

export interface Target {
  readonly url: string;
  readonly adminKey: string;
  readonly provider: { readonly id: string; readonly secret: string };
  readonly operator: { readonly id: string; readonly secret: string };
}

/** Headers that are compared: a caller can depend on them, and they do not differ from one request to the next. */
const COMPARED = ['content-type', 'x-error-code', 'x-next-action', 'allow', 'retry-after', 'location'];

/**
 * Sends a request without a body.
 * @returns the parts of the answer that are compared, as one line
 */
export async function answerOf(
  { caller, method, path }: RecordedRequest,
  target: Target,
  agent: Agent,
): Promise<string> {
  const { hostname, port } = new URL(target.url);
  const call = request({
    agent,
    host: hostname,
    port,
    method,
    path,
    headers: headersOf(caller, method, path, target),
  });
  const [answer] = (await once(call.end(), 'response')) as [IncomingMessage];
  const body = await text(answer);
  const headers = COMPARED.filter((name) => answer.headers[name] !== undefined).map(
    (name) => `${name}: ${String(answer.headers[name])}`,
  );
  // The body of a success contains ids and times.
  const shown = answer.statusCode! < 400 ? `${body.length > 0 ? 'a' : 'no'} body` : body;
  return [String(answer.statusCode), ...headers, shown].join(' | ');
}

function headersOf(caller: Caller, method: string, path: string, target: Target): Record<string, string> {
  if (caller === 'nobody') return {};
  if (caller === 'administrator') return { Authorization: `Bearer ${target.adminKey}` };
  const { id: tenantId, secret } = target[caller];
  const nonce = randomUUID();
  return { ...signRequest({ method, path, body: '', tenantId, secret, nonce, now: Date.now() / 1000 }) };
}

/** The answers to all requests, by title. */
export async function answersOf(target: Target): Promise<Record<string, string>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const answers: Record<string, string> = {};
  const waiting = allRequests();
  const work = async () => {
    for (let request = waiting.shift(); request; request = waiting.shift()) {
      answers[request.title] = await answerOf(request, target, agent);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  agent.destroy();
  return answers;
}
