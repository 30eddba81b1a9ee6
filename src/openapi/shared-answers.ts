import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/catalogue.js';
import { errorResponses } from '../api/api-errors.js';
import { audienceOf } from './audiences.js';
import { REQUEST_ID } from '../observability/trace.js';
import { isSecuredBy, mapOperations, mapValues, type Operation, type Responses } from './operations.js';
import { SIGNATURE } from './signature.js';

const OF_A_BODY: readonly ErrorCode[] = ['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_ENCODING'];
/** A path that cannot be decoded matches no route. */
const OF_A_PATH: readonly ErrorCode[] = ['NOT_FOUND'];
const OF_A_SIGNATURE: readonly ErrorCode[] = [
  'RATE_LIMITED',
  'CONFIGURATION_UNAVAILABLE',
  'REPLAY_PROTECTION_UNAVAILABLE',
  'INTERNAL',
];
const OF_A_KEY: readonly ErrorCode[] = ['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED', 'INTERNAL'];

/** The reads and changes of operators and administrators take turns. */
const OF_A_TURN: readonly ErrorCode[] = ['OVERLOADED'];

const INVALID_SIGNATURE = {
  'text/plain': { schema: { type: 'string', enum: ['invalid signature'] }, example: 'invalid signature' },
};

const REQUEST_ID_HEADER = {
  description: 'The id that was sent, or a new one; also on all log lines of the request',
  required: true,
  schema: { type: 'string', pattern: REQUEST_ID.source },
} as const;

/**
 * Adds the errors of the checks that precede an operation, and the `X-Request-Id` header to every answer. Contract,
 * section 1, "Order of checks", and section 2.
 */
export function withSharedAnswers(document: OpenAPIObject): OpenAPIObject {
  const { paths } = mapOperations(document, (operation, { method, path }) => {
    const signed = isSecuredBy(operation, SIGNATURE);
    const keyed = (operation.security ?? []).length > 0 && !signed;
    const own = ownCodes(operation.responses);
    const shared = [
      // A body is read and validated even if the operation expects none.
      ...(method === 'get' ? [] : OF_A_BODY),
      ...(hasPathParameter(operation) ? OF_A_PATH : []),
      ...((signed || keyed) && audienceOf(path)?.name !== 'provider' ? OF_A_TURN : []),
      ...(signed ? OF_A_SIGNATURE : []),
      ...(keyed ? OF_A_KEY : []),
    ];
    const responses: Responses = { ...operation.responses };
    const added = new Set(Object.keys(errorResponses(shared.filter((code) => !own.includes(code)))));
    for (const { status, ...response } of Object.values(errorResponses([...new Set([...own, ...shared])]))) {
      // A response without an added error code stays unchanged, because its message may differ from the catalogue's.
      if (added.has(String(status))) responses[status] = response;
    }
    if (signed) responses['401'] = withInvalidSignature(responses['401']);
    // An empty `security` says that the operation needs no credentials.
    return {
      ...operation,
      security: operation.security ?? [],
      responses: mapValues(responses, withRequestId) as Responses,
    };
  });
  const headers = { ...document.components?.headers, 'X-Request-Id': REQUEST_ID_HEADER };
  return { ...document, paths, components: { ...document.components, headers } };
}

function withRequestId(response: Responses[string]): object {
  const { headers } = response as { headers?: object };
  return {
    ...response,
    headers: { ...headers, 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
  };
}

function hasPathParameter({ parameters = [] }: Operation): boolean {
  return parameters.some((parameter) => 'in' in parameter && parameter.in === 'path');
}

/** The error codes that the operation documents with `ApiErrors`. */
function ownCodes(responses: Responses): ErrorCode[] {
  return Object.values(responses).flatMap((response) => {
    const header = (response as { headers?: Record<string, { schema?: { enum?: ErrorCode[] } }> }).headers;
    return header?.['X-Error-Code']?.schema?.enum ?? [];
  });
}

/** Adds the plain-text answer to an invalid signature to an operation's 401. */
function withInvalidSignature(response: Responses[string] | undefined): Responses[string] {
  const own = (response ?? {}) as { description?: string; headers?: Headers; content?: object };
  const text = 'plain text `invalid signature`, whatever the reason';
  return {
    ...own,
    ...(own.headers && { headers: ofJson(own.headers) }),
    description: own.description ? `${own.description} · ${text}` : text,
    content: { ...own.content, ...INVALID_SIGNATURE },
  };
}

type Headers = Record<string, { readonly description?: string; readonly schema: object }>;

/** Says that the headers of an error belong to its JSON. OpenAPI describes headers by status, not by content type. */
function ofJson(headers: Headers): Headers {
  return mapValues(headers, (header) => ({
    ...header,
    description: `${header.description}; only the plain text has none`,
  }));
}
