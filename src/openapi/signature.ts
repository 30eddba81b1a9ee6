import type { OpenAPIObject } from '@nestjs/swagger';
import { audienceOf } from './audiences.js';
import { isSecuredBy, mapOperations, type Operation } from './operations.js';

/**
 * The security scheme that `ApiSigned` names. `withSignature` replaces it with one scheme for each audience, because a
 * tenant is either a provider or an operator.
 */
export const SIGNATURE = 'signature';

const HEADERS = {
  'X-Tenant-ID': {
    description: "The caller's own identifier",
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
    example: 'sandbox-provider',
  },
  'X-Timestamp': {
    description: 'Unix time in seconds, decimal digits; within `SIGNATURE_TOLERANCE_SECONDS` of the platform',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1772359200',
  },
  'X-Nonce': {
    description: 'A value that this tenant has never used before',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_.:-]{8,128}$' },
    example: '6f1c2b0e-3f6a-4c43-9f1e-0a4b5e8f7d21',
  },
};

const ON_THE_WIRE =
  'HMAC-SHA256, 64 lower-case hex digits, over `METHOD\\nPATH\\nTIMESTAMP\\nNONCE\\nRAW_BODY`, keyed with the ' +
  "UTF-8 bytes of the tenant's secret. Sent with X-Tenant-ID, X-Timestamp and X-Nonce.";

const IN_THE_BROWSER =
  'Type the tenant id and its secret. Both stay in this browser: each call is signed here, and only the four headers are ' +
  'sent.';

const REFERENCES = Object.keys(HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` }));

/** Documents the signature as it is sent: three header parameters and a security scheme. */
export function withSignature(document: OpenAPIObject): OpenAPIObject {
  const scheme = { type: 'apiKey', in: 'header', name: 'X-Signature', description: ON_THE_WIRE } as const;
  const parameters = Object.fromEntries(
    Object.entries(HEADERS).map(([name, header]) => [
      name,
      { name, in: 'header', required: true, ...header },
    ]),
  ) as NonNullable<OpenAPIObject['components']>['parameters'];
  const securitySchemes = { ...document.components?.securitySchemes };
  const described = mapOperations(document, (operation, { path }) => {
    if (!isSecuredBy(operation, SIGNATURE)) return operation;
    const name = `${audienceOf(path)?.name ?? 'provider'}-${SIGNATURE}`;
    securitySchemes[name] = scheme;
    return {
      ...operation,
      security: [{ [name]: [] }],
      parameters: [...REFERENCES, ...(operation.parameters ?? [])],
    };
  });
  return {
    ...described,
    components: {
      ...described.components,
      securitySchemes,
      parameters: { ...described.components?.parameters, ...parameters },
    },
  };
}

/**
 * The document for Swagger's pages. Its Basic authentication lets a person type a tenant's id and secret, and the page
 * signs each call with them. The document is never exported, because the API has no Basic authentication.
 */
export function forPages(document: OpenAPIObject): OpenAPIObject {
  const schemes = Object.entries(document.components?.securitySchemes ?? {}).map(([name, scheme]) => [
    name,
    name.endsWith(SIGNATURE) ? { type: 'http', scheme: 'basic', description: IN_THE_BROWSER } : scheme,
  ]);
  const components = { ...document.components, securitySchemes: Object.fromEntries(schemes) as object };
  return mapOperations({ ...document, components } as OpenAPIObject, withoutHeaders);
}

function withoutHeaders(operation: Operation): Operation {
  const parameters = (operation.parameters ?? []).filter(
    (parameter) => !('$ref' in parameter && REFERENCES.some(({ $ref }) => $ref === parameter.$ref)),
  );
  return { ...operation, parameters };
}
