import type { OpenAPIObject } from '@nestjs/swagger';
import { type Audience, audienceOf } from './audiences.js';
import { isSecuredBy, mapOperations } from './operations.js';

/** The security scheme that `ApiSigned` names. `withSignature` adds those of the other three headers. */
export const SIGNATURE = 'signature';

/**
 * The four headers of a signed request, each as a security scheme. A call needs all of them. They are not parameters,
 * because generated functions would then demand them at each call, before there is a request to sign.
 */
const SCHEMES = {
  'tenant-id': {
    name: 'X-Tenant-ID',
    description:
      "Of a call to Croupier: the caller's own identifier. Of a call by Croupier: the identifier of the party that is called",
  },
  timestamp: {
    name: 'X-Timestamp',
    description: 'Unix time in seconds, decimal digits; within `SIGNATURE_TOLERANCE_SECONDS` of the receiver',
  },
  nonce: {
    name: 'X-Nonce',
    description: '8 to 128 characters of `A-Z a-z 0-9 - _ . :`, never used before by or for this tenant',
  },
  [SIGNATURE]: {
    name: 'X-Signature',
    description:
      'HMAC-SHA256, 64 lower-case hex digits, over `METHOD\\nPATH\\nTIMESTAMP\\nNONCE\\nRAW_BODY`, keyed with the ' +
      "UTF-8 bytes of the tenant's secret",
  },
};

export const SIGNED = [Object.fromEntries(Object.keys(SCHEMES).map((name) => [name, [] as string[]]))];

const IN_THE_BROWSER =
  'Type the tenant id and its secret. Both stay in this browser: each call is signed here, and only the four headers are ' +
  'sent.';

export function withSignature(document: OpenAPIObject): OpenAPIObject {
  const signed = mapOperations(document, (operation) =>
    isSecuredBy(operation, SIGNATURE) ? { ...operation, security: SIGNED } : operation,
  );
  const own = Object.entries(SCHEMES).map(([name, scheme]) => [
    name,
    { type: 'apiKey', in: 'header', ...scheme },
  ]);
  const { [SIGNATURE]: _, ...others } = document.components?.securitySchemes ?? {};
  const securitySchemes = { ...others, ...(Object.fromEntries(own) as object) };
  return { ...signed, components: { ...signed.components, securitySchemes } };
}

/**
 * The document for Swagger's pages. Its Basic authentication lets a person type a tenant's id and secret, and the page
 * signs each call with them. A tenant is either a provider or an operator, so that each has a scheme of its own. The
 * document is never exported, because the API has no Basic authentication.
 */
export function forPages(document: OpenAPIObject): OpenAPIObject {
  const securitySchemes = Object.fromEntries(
    Object.entries(document.components?.securitySchemes ?? {}).filter(([name]) => !(name in SCHEMES)),
  );
  const shown = mapOperations(document, (operation, { path }) => {
    if (!isSecuredBy(operation, SIGNATURE)) return operation;
    const name = schemeOf(audienceOf(path)?.name ?? 'provider');
    securitySchemes[name] = { type: 'http', scheme: 'basic', description: IN_THE_BROWSER };
    return { ...operation, security: [{ [name]: [] }] };
  });
  return {
    ...shown,
    ...(document.webhooks && { webhooks: unsecured(document.webhooks) }),
    components: { ...shown.components, securitySchemes },
  };
}

const schemeOf = (audience: Audience['name']) => `${audience}-${SIGNATURE}`;

type Webhooks = NonNullable<OpenAPIObject['webhooks']>;

/** A page signs no webhook, because it does not send one. */
function unsecured(webhooks: Webhooks): Webhooks {
  return JSON.parse(
    JSON.stringify(webhooks, (key, value: unknown) => (key === 'security' ? [] : value)),
  ) as Webhooks;
}
