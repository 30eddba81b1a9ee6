import type { INestApplication } from '@nestjs/common';
import type { Router } from 'express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ErrorBody } from './api-errors.js';
import { withWholeBodies } from './bodies.js';
import { withExamples } from './examples.js';
import type { PageOptions } from './pages/page.js';
import { servePages } from './pages/pages.js';
import { withRequestId } from './request-id.js';
import { withRoles } from './roles.js';
import { withSharedErrors } from './shared-errors.js';
import { withSignature } from './signature.js';
import { withoutUnused } from './unused.js';
import { WEBHOOKS } from './webhooks.js';

/** Each audience reads its own document; the tag on a controller names the audience. */
const AUDIENCES = { provider: 'Provider', operator: 'Operator', admin: 'Administrators' } as const;

const DESCRIPTION = `Croupier stands between a game provider, a platform and an operator's wallet.

**Signature.** Provider and operator routes carry four headers. \`X-Signature\` is the HMAC-SHA256, in 64 lower-case
hex digits, over \`METHOD\\nPATH\\nTIMESTAMP\\nNONCE\\nRAW_BODY\`, keyed with the tenant's secret. PATH is the request
target with its query string; RAW_BODY is the bytes as sent. Whatever fails is a 401 with the plain text
\`invalid signature\`.

**Errors.** Every other error is \`{"error": "<message>"}\` with its code in \`X-Error-Code\` and what to do next in
\`X-Next-Action\`.

**Amounts** are integers in minor units of their currency; **times** are ISO 8601 in UTC.`;

/**
 * Serves Swagger at /docs and, for each audience, at /docs/<audience>; the JSON beside it with `-json`.
 * @returns renders all of it
 */
export function serveDocuments(app: INestApplication, router: Router, options: PageOptions): () => void {
  const whole = describe(app);
  const documents = new Map([['/docs', whole]]);
  for (const [audience, tag] of Object.entries(AUDIENCES)) {
    documents.set(`/docs/${audience}`, withoutUnused(ofAudience(whole, tag)));
  }
  return servePages(router, documents, options);
}

function describe(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Croupier')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    // The first one that has webhooks.
    .setOpenAPIVersion('3.1.0')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/', 'The service that serves this document')
    .addTag(
      'Provider',
      'Provider → platform: sessions, transactions, balance; platform → provider: callbacks',
    )
    .addTag('Operator', 'Operator → platform: launch and revocation of sessions, free spins')
    .addTag('Administrators', 'Providers, operators, games, free spins, keys and the audit log')
    .addTag('Monitoring', 'Health and metrics')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An admin key' }, 'admin-key');
  const document = SwaggerModule.createDocument(app, builder.build(), { extraModels: [ErrorBody] });
  const told = [withSharedErrors, withSignature, withRequestId, withRoles, withExamples, withWholeBodies];
  const complete = told.reduce((described, tell) => tell(described), document);
  return { ...(withoutNullable(complete) as OpenAPIObject), webhooks: WEBHOOKS };
}

function ofAudience(whole: OpenAPIObject, tag: string): OpenAPIObject {
  const paths: OpenAPIObject['paths'] = {};
  for (const [path, operations] of Object.entries(whole.paths)) {
    const own = Object.entries(operations as Record<string, { tags?: string[] }>).filter(([, operation]) =>
      operation.tags?.includes(tag),
    );
    if (own.length > 0) paths[path] = Object.fromEntries(own);
  }
  const { webhooks, ...rest } = whole;
  const called = tag === AUDIENCES.provider && webhooks !== undefined ? { webhooks } : {};
  return { ...rest, paths, ...called, tags: (whole.tags ?? []).filter(({ name }) => name === tag) };
}

/** From OpenAPI 3.1 on null is a type among others. */
function withoutNullable(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutNullable);
  if (node === null || typeof node !== 'object') return node;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, withoutNullable(value)]),
  );
  if (nullable !== true) return nullable === undefined ? rest : { ...rest, nullable };
  return {
    ...rest,
    type: [rest['type'], 'null'],
    ...(Array.isArray(rest['enum']) && { enum: [...(rest['enum'] as unknown[]), null] }),
  };
}
