import { kind, pathname, search, type PlantedMistake } from './call.js';

export const PATHS: readonly PlantedMistake[] = [
  kind('with https and host', 'path-host', ({ host, path }) => ({
    parts: { path: `https://${host}${path}` },
  })),
  kind('with host', 'path-host', ({ host, path }) => ({ parts: { path: host + path } })),
  kind('with http and host without port', 'path-host', ({ host, path }) => ({
    parts: { path: `http://${host.split(':')[0]!}${path}` },
  })),
  kind('without the first slash', 'path-slash', ({ path }) => ({ parts: { path: path.slice(1) } })),
  kind('with a slash at the end', 'path-slash', (call) => ({
    parts: { path: `${pathname(call)}/${search(call)}` },
  })),
  kind('decoded', 'path-decoded', ({ path }) => ({ parts: { path: decodeURIComponent(path) } }), {
    percent: true,
  }),
  kind('encoded again', 'path-encoded', ({ path }) => ({ parts: { path: encodeURI(path) } }), {
    percent: true,
  }),
  kind(
    '+ for %20',
    ['path-space', 'path-encoding'],
    ({ path }) => ({ parts: { path: path.replaceAll('%20', '+') } }),
    { percent: true },
  ),
  kind(
    'percent-encoding in lower case',
    'path-encoding',
    ({ path }) => ({
      parts: { path: path.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()) },
    }),
    { percent: true },
  ),
  kind('without the query', 'path-query-missing', (call) => ({ parts: { path: pathname(call) } }), {
    query: true,
  }),
  kind(
    'query sorted',
    'path-query-order',
    (call) => ({
      parts: { path: `${pathname(call)}?${search(call).slice(1).split('&').sort().join('&')}` },
    }),
    { query: true },
  ),
  kind(
    'without the base path',
    'path-base-missing',
    ({ path }) => ({
      parts: { path: path.replace(/^\/[a-z]+/, '') },
    }),
    { basePath: true },
  ),
  kind(
    'without base path and query',
    'path-base-missing',
    (call) => ({
      parts: { path: pathname(call).replace(/^\/[a-z]+/, '') },
    }),
    { basePath: true, query: true },
  ),
  kind('with a base path that a proxy cuts off', 'path-base-added', ({ path }) => ({
    parts: { path: `/gateway${path}` },
  })),
  kind(
    'the template of the route',
    'path-template',
    ({ path }) => ({
      parts: { path: path.replace('b1946ac9', '{sessionId}') },
    }),
    { route: '/v1/operator/sessions/b1946ac9/revoke', basePath: false },
  ),
  kind(
    'another route',
    'path-other-route',
    ({ path }) => ({
      parts: { path: path.replace('/v1/wallet/transaction', '/v1/wallet/balance') },
    }),
    { route: '/v1/wallet/transaction' },
  ),
  kind('path in lower case', 'path-case', ({ path }) => ({ parts: { path: path.toLowerCase() } }), {
    percent: true,
  }),

  kind('with host and HTTP port 80', 'path-host', ({ host, path }) => ({
    parts: { path: `http://${host.split(':')[0]!}:80${path}` },
  })),
  kind('with the address of the machine', 'path-host', ({ path }) => ({
    parts: { path: `http://localhost:3000${path}` },
  })),
  kind(
    'two slashes at the base path',
    'path-slash',
    ({ path }) => ({ parts: { path: path.replace('/v1', '//v1') } }),
    { basePath: true },
  ),
  kind('two slashes in front', 'path-slash', ({ path }) => ({ parts: { path: `/${path}` } })),
  kind(
    'the query decoded',
    'path-decoded',
    (call) => ({
      parts: { path: pathname(call) + decodeURIComponent(search(call)) },
    }),
    { percent: true },
  ),
  kind(
    'the query reversed',
    'path-query-order',
    (call) => ({
      parts: { path: `${pathname(call)}?${search(call).slice(1).split('&').reverse().join('&')}` },
    }),
    { query: true },
  ),
  kind(
    'one parameter left out',
    'path-query-missing',
    (call) => ({
      parts: { path: call.path.replace(/&b=2$/, '') },
    }),
    { query: true },
  ),
  kind(
    'a parameter that only the signer has',
    'unknown',
    ({ path }) => ({ parts: { path: `${path}&debug=1` } }),
    { query: true },
  ),
  kind('the question mark alone', 'path-query', ({ path }) => ({ parts: { path: `${path}?` } }), {
    query: false,
  }),
  kind(
    'the query without its question mark',
    'path-query',
    (call) => ({
      parts: { path: pathname(call) + search(call).slice(1) },
    }),
    { query: true },
  ),
  kind(
    '+ sent for %20',
    ['path-space', 'path-encoding', 'path-decoded'],
    ({ path }) => ({
      parts: { path },
      sent: { path: path.replaceAll('%20', '+') },
    }),
    { percent: true },
  ),
  kind(
    'slash of a parameter decoded',
    ['path-decoded', 'path-encoding'],
    ({ path }) => ({ parts: { path: path.replaceAll('%2F', '/') } }),
    { percent: true },
  ),
  kind(
    'the template in Express’ style',
    'path-template',
    ({ path }) => ({
      parts: { path: path.replace('b1946ac9', ':sessionId') },
    }),
    { route: '/v1/operator/sessions/b1946ac9/revoke', basePath: false },
  ),
  kind(
    'the template below a base path',
    'path-template',
    ({ path }) => ({
      parts: { path: path.replace('b1946ac9', '{sessionId}') },
    }),
    { route: '/v1/operator/sessions/b1946ac9/revoke', basePath: true },
  ),
  kind(
    'the template with another name',
    'path-template',
    ({ path }) => ({
      parts: { path: path.replace('b1946ac9', '{session_id}') },
    }),
    { route: '/v1/operator/sessions/b1946ac9/revoke', basePath: false },
  ),
  kind(
    'the base path twice',
    'path-base-added',
    ({ path }) => ({
      parts: { path: path.replace(/^\/[a-z]+/, '$&$&') },
    }),
    { basePath: true },
  ),
  kind('a base path of two parts that a proxy cuts off', 'path-base-added', ({ path }) => ({
    parts: { path: `/api/v1${path}` },
  })),
  kind('a base path of its own', 'unknown', ({ path }) => ({
    parts: { path: `/spinwell-eu${path}` },
  })),
  kind('the whole request line', 'path-request-line', ({ path }) => ({
    parts: { path: `${path} HTTP/1.1` },
  })),
  kind('dots resolved', 'path-encoding', ({ path }) => ({
    parts: { path },
    sent: { path: path.replace('/v1/', '/v1/./') },
  })),
];
