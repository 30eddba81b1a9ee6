import { canonical, kind, pick, type PlantedMistake } from './call.js';

export const LAYOUTS: readonly PlantedMistake[] = [
  ...['.', ':', '|', '&', '', ',', ' ', '\r\n', '\\n', ';'].map((separator) =>
    kind(`joined with ${JSON.stringify(separator)}`, 'layout-separator', (call) => ({
      text: [call.method, call.path, call.timestamp, call.nonce, call.body].join(separator),
    })),
  ),
  kind('joined with " - "', 'unknown', (call) => ({
    text: [call.method, call.path, call.timestamp, call.nonce, call.body].join(' - '),
  })),
  kind('nothing before the body', 'layout-before-body', (call) => ({
    text: [call.method, call.path, call.timestamp, call.nonce].join('\n') + call.body,
  })),
  kind('newline at the end', 'newline-at-end', (call) => ({ text: `${canonical(call)}\n` })),
  kind('nonce before timestamp', 'layout-order', (call) => ({
    text: [call.method, call.path, call.nonce, call.timestamp, call.body].join('\n'),
  })),
  kind('timestamp and nonce first', 'layout-order', (call) => ({
    text: [call.timestamp, call.nonce, call.method, call.path, call.body].join('\n'),
  })),
  kind('body first', 'layout-order', (call) => ({
    text: [call.body, call.method, call.path, call.timestamp, call.nonce].join('\n'),
  })),
  kind('any order, any separator', 'layout-order+layout-separator', (call, random) => ({
    text: [call.timestamp, call.body, call.path, call.nonce, call.method].join(pick(random, ['.', ':', '|'])),
  })),
  kind('without the method', 'layout-method-missing', (call) => ({
    text: [call.path, call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('without the path', 'layout-path-missing', (call) => ({
    text: [call.method, call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('without the timestamp', 'layout-timestamp-missing', (call) => ({
    text: [call.method, call.path, call.nonce, call.body].join('\n'),
  })),
  kind('without the nonce', 'layout-nonce-missing', (call) => ({
    text: [call.method, call.path, call.timestamp, call.body].join('\n'),
  })),
  kind('without the body', 'layout-body-missing', (call) => ({
    text: [call.method, call.path, call.timestamp, call.nonce].join('\n'),
  })),
  kind('with the tenant', 'layout-tenant-added', (call) => ({
    text: [call.tenant, canonical(call)].join('\n'),
  })),
  kind('with the tenant behind the path', 'layout-tenant-added', (call) => ({
    text: [call.method, call.path, call.tenant, call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('as Stripe', 'layout-stripe', ({ timestamp, body }) => ({ text: `${timestamp}.${body}` })),
  kind('as Standard Webhooks', 'layout-standard-webhooks', ({ nonce, timestamp, body }) => ({
    text: `${nonce}.${timestamp}.${body}`,
  })),
  kind('as GitHub', 'layout-body-only', ({ body }) => ({ text: body })),
  kind('as Slack', 'layout-slack', ({ timestamp, body }) => ({ text: `v0:${timestamp}:${body}` })),
  kind('labelled parts', 'layout-labelled', (call) => ({
    text: `method=${call.method}&path=${call.path}&timestamp=${call.timestamp}&nonce=${call.nonce}&body=${call.body}`,
  })),

  kind('any order', 'layout-order', (call, random) => {
    const parts = [call.body, call.nonce, call.path, call.timestamp, call.method];
    const from = Math.floor(random() * 4);
    return { text: [...parts.slice(from), ...parts.slice(0, from)].join('\n') };
  }),
  kind('another order, one part left out', 'layout-order+layout-method-missing', (call) => ({
    text: [call.timestamp, call.nonce, call.path, call.body].reverse().join('\n'),
  })),
  kind(
    'another order, one part left out, dots',
    'layout-order+layout-method-missing+layout-separator',
    (call) => ({
      text: [call.nonce, call.timestamp, call.path, call.body].join('.'),
    }),
  ),
  kind('a request line', 'layout-separator', (call) => ({
    text: [`${call.method} ${call.path}`, call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('method and path without anything between', 'layout-separator', (call) => ({
    text: [call.method + call.path, call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('an empty line before the body', 'layout-before-body', (call) => ({
    text: [call.method, call.path, call.timestamp, call.nonce, '', call.body].join('\n'),
  })),
  kind('a dot before the body', 'layout-before-body', (call) => ({
    text: `${[call.method, call.path, call.timestamp, call.nonce].join('\n')}.${call.body}`,
  })),
  kind('CRLF, also at the end', 'layout-separator+newline-at-end', (call) => ({
    text: [call.method, call.path, call.timestamp, call.nonce, call.body, ''].join('\r\n'),
  })),
  kind('a newline in front', 'newline-at-start', (call) => ({
    text: `\n${canonical(call)}`,
  })),
  kind('method and path left out', 'layout-parts-missing', (call) => ({
    text: [call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('timestamp and nonce left out', 'layout-parts-missing', (call) => ({
    text: [call.method, call.path, call.body].join('\n'),
  })),
  kind(
    'timestamp and body joined with nothing',
    'layout-parts-missing+layout-separator',
    ({ timestamp, body }) => ({
      text: timestamp + body,
    }),
  ),
  kind('Stripe’s with the nonce', 'layout-parts-missing+layout-separator', ({ timestamp, nonce, body }) => ({
    text: [timestamp, nonce, body].join('.'),
  })),
  kind('the tenant at the end', 'layout-tenant-added', (call) => ({
    text: `${canonical(call)}\n${call.tenant}`,
  })),
  kind(
    'the tenant for the nonce',
    ['layout-tenant-added+layout-nonce-missing', 'nonce-other-header'],
    (call) => ({
      text: [call.method, call.path, call.timestamp, call.tenant, call.body].join('\n'),
    }),
  ),
  kind('the tenant in front, joined with colons', 'layout-tenant-added+layout-separator', (call) => ({
    text: [call.tenant, call.method, call.path, call.timestamp, call.nonce, call.body].join(':'),
  })),
  kind('the host as a part', 'path-host', (call) => ({
    text: [call.method, call.host, call.path, call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('a JSON object of the parts', 'layout-json', ({ method, path, timestamp, nonce, body }) => ({
    text: JSON.stringify({ method, path, timestamp, nonce, body }),
  })),
  kind('a JSON array of the parts', 'layout-json', ({ method, path, timestamp, nonce, body }) => ({
    text: JSON.stringify([method, path, timestamp, nonce, body]),
  })),
  kind('version in front', 'layout-v1', (call) => ({ text: `v1:${canonical(call)}` })),
  kind('body before timestamp and nonce', 'layout-order', (call) => ({
    text: [call.method, call.path, call.body, call.timestamp, call.nonce].join('\n'),
  })),
  kind('Content-Type as a part', 'layout-header-added', (call) => ({
    text: [call.method, 'application/json', call.path, call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('joined with a unit separator', 'unknown', (call) => ({
    text: [call.method, call.path, call.timestamp, call.nonce, call.body].join('\u001f'),
  })),
  kind('path and body alone', 'layout-parts-missing+layout-separator', ({ path, body }) => ({
    text: path + body,
  })),
  kind('the head joined with nothing, a newline before the body', 'layout-separator', (call) => ({
    text: `${call.method}${call.path}${call.timestamp}${call.nonce}\n${call.body}`,
  })),
];
