import { canonical, kind, type PlantedMistake } from './call.js';

const NO_BODY = { body: 'none' } as const;

/** Whole addresses, and requests without a body. */
export const ADDRESSES: readonly PlantedMistake[] = [
  kind('address, the host in Origin', 'path-host', ({ path }) => ({
    parts: { path: `https://api.example${path}` },
    extraHeaders: [['Origin', 'https://api.example']],
    without: 'Host',
  })),
  kind('address, the host in X-Forwarded-Host', 'path-host', ({ path }) => ({
    parts: { path: `https://api.example${path}` },
    extraHeaders: [['X-Forwarded-Host', 'api.example']],
  })),
  kind('address, the host in Forwarded', 'path-host', ({ path }) => ({
    parts: { path: `https://api.example${path}` },
    extraHeaders: [['Forwarded', 'for=192.0.2.1;proto=https;host=api.example']],
  })),
  kind('local address without Host', 'path-host', ({ path }) => ({
    parts: { path: `http://127.0.0.1:3000${path}` },
    without: 'Host',
  })),
  kind('address of an unknown host, without Host', 'unknown', ({ path }) => ({
    parts: { path: `https://api.example${path}` },
    without: 'Host',
  })),
  kind(
    'no body, and no newline after the nonce',
    'layout-before-body',
    (call) => ({ text: canonical(call).slice(0, -1) }),
    NO_BODY,
  ),
  kind(
    'no body, two newlines after the nonce',
    ['newline-at-end', 'layout-before-body'],
    (call) => ({ text: `${canonical(call)}\n` }),
    NO_BODY,
  ),
  kind(
    'no body, no newline after the nonce, dots',
    ['layout-separator+layout-before-body'],
    ({ method, path, timestamp, nonce }) => ({ text: [method, path, timestamp, nonce].join('.') }),
    NO_BODY,
  ),
  kind(
    'no body, no newline after the nonce, no query',
    'layout-before-body+path-query-missing',
    ({ method, path, timestamp, nonce }) => ({
      text: [method, path.split('?')[0], timestamp, nonce].join('\n'),
    }),
    { ...NO_BODY, query: true },
  ),
  kind(
    'no body, the nonce not signed',
    'layout-nonce-missing',
    ({ method, path, timestamp }) => ({ text: `${method}\n${path}\n${timestamp}\n` }),
    NO_BODY,
  ),
];
