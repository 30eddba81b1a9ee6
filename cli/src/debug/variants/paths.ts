import { CALLBACK_ROUTES } from '@croupier/provider-sdk';
import type { CauseCode } from '../causes.js';
import { type Rank, type Variant, variant } from '../signing.js';

/** Signed routes, to recognise a call whose signature is for another route. Contract, sections 3 to 6. */
const ROUTES = [
  '/v1/wallet/session/verify',
  '/v1/wallet/transaction',
  '/v1/wallet/balance',
  '/v1/operator/sessions',
  '/v1/operator/free-spins',
  '/transaction',
  '/balance',
  ...Object.values(CALLBACK_ROUTES),
];

/** Common base paths, which a sender may sign although they are not in the given path. */
const BASE_PATHS = [
  '/api',
  '/rgs',
  '/v1',
  '/api/v1',
  '/wallet',
  '/croupier',
  '/platform',
  '/gateway',
  '/webhook',
  '/webhooks',
  '/callback',
  '/callbacks',
  '/provider',
  '/providers',
  '/game',
  '/games',
  '/public',
  '/internal',
  '/prod',
  '/production',
  '/staging',
  '/stage',
  '/dev',
  '/test',
  '/sandbox',
  '/app',
  '/service',
  '/backend',
  '/proxy',
  '/rest',
  '/operator',
  '/base',
];

const PARAMETERS = [
  'sessionId',
  'playerRef',
  'requestRef',
  'batchId',
  'externalRef',
  'approvalId',
  'transactionId',
  'roundId',
  'gameId',
  'id',
];
const SNAKE_CASE_PARAMETERS = PARAMETERS.map((name) =>
  name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`),
);

/** Headers in which a proxy forwards the original path. */
const ORIGINAL_PATH_HEADERS = ['x-original-uri', 'x-original-url', 'x-forwarded-uri', 'x-rewrite-url'];

/**
 * Paths that a signer may sign instead of the request target.
 * @param header returns a header of the request by its lower-case name
 */
export function pathVariants(target: string, header: (name: string) => string | undefined): Variant[] {
  const at = target.indexOf('?');
  const path = at < 0 ? target : target.slice(0, at);
  const search = at < 0 ? '' : target.slice(at);
  return [
    ...ofQuery(path, search),
    ...ofBasePath(path, search, header),
    ...ofHost(target, hostsIn(header)),
    ...['content-type', 'x-request-id', 'date', 'user-agent', 'content-length'].flatMap((name) => {
      const value = header(name);
      const explanation = `The header ${name} was signed too. Sign the five parts alone.`;
      return value === undefined
        ? []
        : [`${value}\n${target}`, `${target}\n${value}`].map((text) =>
            of(3, 'layout-header-added', explanation, text),
          );
    }),
    of(2, 'path-request-line', 'The HTTP version was signed behind the path.', `${target} HTTP/1.1`),
    ...ofSlashes(path, search),
    ...ofEncoding(path, search),
    ...ofRoute(path, search),
    ...ofCase(target),
  ];
}

const of = (rank: Rank, code: CauseCode, explanation: string, path: string): Variant =>
  variant(rank, code, explanation, { path });

function ofQuery(path: string, search: string): Variant[] {
  if (search === '') {
    return [of(2, 'path-query', 'A "?" was signed after the path, and not sent.', `${path}?`)];
  }
  const pairs = search.slice(1).split('&');
  const sorted = [...pairs].sort();
  const omitted = 'The query string was not signed. Sign the whole request target, as it is sent.';
  const reordered = 'The query string was signed in another order than it is sent.';
  return [
    of(1, 'path-query-missing', omitted, path),
    of(2, 'path-query', 'The query string was signed without its "?".', path + search.slice(1)),
    of(2, 'path-query', 'The "?" was signed without the query string.', `${path}?`),
    of(2, 'path-query', 'The query string was signed without the path.', search),
    of(2, 'path-query', 'The query string was signed without the path.', search.slice(1)),
    ...[sorted, [...sorted].reverse(), [...pairs].reverse()].map((order) =>
      of(1, 'path-query-order', reordered, `${path}?${order.join('&')}`),
    ),
    ...pairs.map((_, index) =>
      of(
        2,
        'path-query-missing',
        'Part of the query string was not signed.',
        queried(
          path,
          pairs.filter((__, other) => other !== index),
        ),
      ),
    ),
    of(
      2,
      'path-query',
      'The query string was signed with "&amp;" or ";" between its parameters.',
      `${path}?${pairs.join(';')}`,
    ),
    of(
      2,
      'path-query',
      'The query string was signed with "&amp;" or ";" between its parameters.',
      `${path}?${pairs.join('&amp;')}`,
    ),
  ];
}

function queried(path: string, pairs: readonly string[]): string {
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

function ofBasePath(path: string, search: string, header: (name: string) => string | undefined): Variant[] {
  const missing =
    'The base path was not signed. Sign the path as it stands on the request line, base path included.';
  const added =
    'A base path was signed that is not in the path given here. If a proxy cuts it off, it belongs to the signature: ' +
    'give --path as the sender sent it, and tell the receiver its strippedPrefix.';
  const inner = [...path.matchAll(/\//g)].slice(1).map(({ index }) => path.slice(index));
  const prefix = header('x-forwarded-prefix');
  const originals = ORIGINAL_PATH_HEADERS.map(header).filter((value) => value !== undefined);
  return [
    ...inner.map((rest) => of(1, 'path-base-missing', missing, rest + search)),
    ...inner.map((rest) =>
      of(1, 'path-base-missing', 'Neither the base path nor the query string was signed.', rest),
    ),
    ...originals.map((original) => of(1, 'path-base-added', added, original)),
    ...(prefix === undefined ? [] : [prefix, `/${prefix}`])
      .map((base) => base.replace(/\/$/, ''))
      .map((base) => of(1, 'path-base-added', added, base + path + search)),
    ...BASE_PATHS.map((base) => of(2, 'path-base-added', added, base + path + search)),
    ...BASE_PATHS.map((base) => of(3, 'path-base-added', added, base + path)),
  ];
}

/** Hosts that the headers name, in the order of their likelihood. */
function hostsIn(header: (name: string) => string | undefined): string[] {
  const [, forwarded] = /(?:^|[;,\s])host="?([^";,\s]+)/i.exec(header('forwarded') ?? '') ?? [];
  const origins = [header('origin'), header('referer')].map((url = '') =>
    URL.canParse(url) ? new URL(url).host : '',
  );
  const names = [
    header('host'),
    header('x-forwarded-host'),
    header('x-original-host'),
    forwarded,
    ...origins,
  ];
  return [...new Set(names.filter((name): name is string => name !== undefined && name !== ''))];
}

const LOCAL_HOSTS = ['localhost', '127.0.0.1'].flatMap((name) =>
  ['', ':80', ':3000', ':4000', ':8000', ':8080'].map((port) => name + port),
);

function ofHost(target: string, hosts: readonly string[]): Variant[] {
  const explanation = 'The address was signed with its host. Sign the path and the query string alone.';
  const [path = ''] = target.split('?');
  const spellings = hosts.flatMap((host) => {
    const name = host.replace(/:\d+$/, '');
    return [host, name, `${name}:443`, `${name}:80`];
  });
  return [
    ...[...new Set(spellings)].flatMap((host) =>
      [`https://${host}`, `http://${host}`, host, `//${host}`].flatMap((origin) => [
        of(1, 'path-host', explanation, origin + target),
        of(2, 'path-host', `${explanation} The query string was not signed.`, origin + path),
      ]),
    ),
    ...hosts.flatMap((host) =>
      [`${host}\n${target}`, `${target}\n${host}`].map((text) =>
        of(2, 'path-host', 'The host was signed as a part of its own. Leave it out.', text),
      ),
    ),
    ...LOCAL_HOSTS.flatMap((host) =>
      [`http://${host}`, host].map((origin) => of(3, 'path-host', explanation, origin + target)),
    ),
  ];
}

function ofSlashes(path: string, search: string): Variant[] {
  const explanation = 'The path was signed with other slashes than it was sent with.';
  const bare = path.replace(/^\/+/, '');
  return [
    of(1, 'path-slash', 'The path was signed without its first slash.', bare + search),
    of(1, 'path-slash', 'A slash was signed at the end of the path, and not sent.', `${path}/${search}`),
    of(
      1,
      'path-slash',
      'The slash at the end of the path was sent, and not signed.',
      path.replace(/\/$/, '') + search,
    ),
    of(2, 'path-slash', explanation, `/${path}${search}`),
    of(2, 'path-slash', explanation, path.replaceAll(/\/+/g, '/') + search),
    ...[...path.matchAll(/\//g)].map(({ index }) =>
      of(2, 'path-slash', explanation, `${path.slice(0, index)}/${path.slice(index)}${search}`),
    ),
    of(2, 'path-slash', explanation, bare.replace(/\/$/, '') + search),
    of(2, 'path-slash', explanation, bare),
    of(2, 'path-slash', 'Only "/" was signed as the path.', '/'),
    of(2, 'path-empty', 'An empty path was signed.', ''),
  ];
}

function ofEncoding(path: string, search: string): Variant[] {
  const target = path + search;
  const decoded = 'The path was decoded before it was signed. Sign it as it stands on the request line.';
  const encoded = 'The path was encoded once more before it was signed. Sign it as it is sent.';
  const spaces = 'A space was signed as "+" and sent as "%20", or the other way round.';
  return [
    ...[
      percentDecoded(target),
      percentDecoded(target.replaceAll('+', ' ')),
      path + percentDecoded(search),
      percentDecoded(path) + search,
      path + percentDecoded(search.replaceAll('+', ' ')),
    ].map((text) => of(1, 'path-decoded', decoded, text)),
    ...[...new Set(target.match(/%[0-7][0-9a-f]/gi))].map((code) =>
      of(2, 'path-decoded', decoded, target.replaceAll(code, percentDecoded(code))),
    ),
    ...[
      encodeURI(target),
      encodeURI(path) + search,
      path + encodeURI(search),
      encodeURIComponent(target),
      encodeURIComponent(path) + search,
      target.replaceAll('%', '%25'),
    ].map((text) => of(1, 'path-encoded', encoded, text)),
    ...[
      target.replaceAll('%20', '+'),
      path + search.replaceAll('%20', '+'),
      target.replaceAll('+', '%20'),
      target.replaceAll('+', '%2B'),
    ].map((text) => of(1, 'path-space', spaces, text)),
    ...[lowerHex(target), upperHex(target)].map((text) =>
      of(1, 'path-encoding', 'Percent-encoding was signed in another case (%2f or %2F).', text),
    ),
    ...respelt(path, search).map((text) =>
      of(
        2,
        'path-encoding',
        'The path was signed with other characters percent-encoded than were sent.',
        text,
      ),
    ),
  ];
}

/** Other spellings of the same target, as URL classes and strict encoders write it. */
function respelt(path: string, search: string): string[] {
  const spellings: string[] = [];
  try {
    const url = new URL(`http://host${path}${search}`);
    spellings.push(url.pathname + url.search, `${path}?${url.searchParams.toString()}`);
  } catch {
    // URL classes do not accept this target, so they have no spelling of it.
  }
  const strict = (text: string) =>
    text.replaceAll(/[!'()*:@,;$~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return [...spellings, strict(path) + search, path + strict(search), strict(path + search)];
}

function ofRoute(path: string, search: string): Variant[] {
  const template =
    'The template of the route was signed, not the path with its values. Sign the path as it is sent.';
  const segments = path.split('/');
  const templatesOf = (names: readonly string[]) =>
    segments.flatMap((segment, index) =>
      index === 0 || segment === ''
        ? []
        : names
            .flatMap((name) => [`{${name}}`, `:${name}`, `<${name}>`, `[${name}]`])
            .map((style) => segments.with(index, style).join('/')),
    );
  const own = ROUTES.find((route) => path.endsWith(route));
  const base = own === undefined ? '' : path.slice(0, -own.length);
  const others = ROUTES.filter((route) => route !== own && !path.endsWith(route));
  return [
    ...templatesOf(PARAMETERS).flatMap((text) => [
      of(2, 'path-template', template, text),
      of(2, 'path-template', template, text + search),
    ]),
    ...templatesOf(SNAKE_CASE_PARAMETERS).map((text) => of(3, 'path-template', template, text + search)),
    ...others.map((route) =>
      of(2, 'path-other-route', `The signature is for another route, ${route}.`, base + route + search),
    ),
  ];
}

function ofCase(target: string): Variant[] {
  return [target.toLowerCase(), target.toUpperCase()].map((text) =>
    of(2, 'path-case', 'The path was signed in other upper- and lower-case letters than it was sent.', text),
  );
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function lowerHex(text: string): string {
  return text.replaceAll(/%[0-9A-F]{2}/gi, (code) => code.toLowerCase());
}

function upperHex(text: string): string {
  return text.replaceAll(/%[0-9A-F]{2}/gi, (code) => code.toUpperCase());
}
