import type { INestApplication, Type } from '@nestjs/common';
import type { Router } from 'express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ErrorBody } from '../api/api-errors.js';
import { type Audience, AUDIENCES, audienceOf, withOperationIds } from './audiences.js';
import { withBodyRules } from './bodies.js';
import { withDescriptions, withRoles } from './descriptions.js';
import { withExamples } from './examples.js';
import { withIntegerFormats } from './integers.js';
import type { PageOptions } from './pages/page.js';
import { type Documents, type RenderDocuments, servePages } from './pages/pages.js';
import { mapValues } from './operations.js';
import { type OutgoingCall, OutgoingCalls, pathItemOf } from './outgoing-calls.js';
import { withSharedAnswers } from './shared-answers.js';
import { withSignature } from './signature.js';
import { withTags } from './tags.js';

const WALLET_DOCUMENT = '/docs/operator-wallet';

const WALLET_SUMMARY =
  "The calls of Croupier to an operator's wallet, for implementers. They carry the four signature headers, with the " +
  "operator's id and secret.";

const CONVENTIONS = `**Errors.** An error is \`{"error": "<message>"}\` with its code in \`X-Error-Code\` and what to do next in
\`X-Next-Action\`.

**Amounts** are integers in minor units of their currency; **times** are ISO 8601 in UTC.`;

const SIGNATURE = `**Signature.** Requests to provider and operator routes carry four headers. \`X-Signature\` is the HMAC-SHA256, in 64 lower-case
hex digits, over \`METHOD\\nPATH\\nTIMESTAMP\\nNONCE\\nRAW_BODY\`, keyed with the tenant's secret. PATH is the request
target with its query string; RAW_BODY is the bytes as sent. Every failure is a 401 with the plain text
\`invalid signature\`.`;

/**
 * Serves a Swagger page with all operations at /docs, and one for each audience at /docs/<audience>. The suffixes
 * `-json` and `-yaml` select the documents themselves. The document of the operator's wallet has no page.
 */
export function serveDocuments(app: INestApplication, router: Router, options: PageOptions): RenderDocuments {
  return servePages(router, describe(app), options);
}

/** Every document by its path, such as `/docs/provider`. */
function describe(app: INestApplication): Documents {
  const { calls, models } = app.get(OutgoingCalls);
  const whole = describeAll(app, models);
  const documents = AUDIENCES.map(
    (audience) => [pathOf(audience), ofAudience(whole, audience, calls)] as const,
  );
  return {
    pages: new Map([['/docs', withTags({ ...whole, webhooks: itemsOf(calls) })], ...documents]),
    withoutPage: new Map([[WALLET_DOCUMENT, ofWallet(whole, calls)]]),
  };
}

const itemsOf = (calls: readonly OutgoingCall[]) =>
  Object.fromEntries(calls.map((call) => [call.path, pathItemOf(call)]));

function describeAll(app: INestApplication, models: Type<object>[]): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Croupier')
    .setDescription(
      descriptionOf(
        "Croupier stands between a game provider, a platform and an operator's wallet. This page has every operation.",
      ),
    )
    .setVersion('1')
    // Webhooks require OpenAPI 3.1.
    .setOpenAPIVersion('3.1.0')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/', 'The service that serves this document')
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', bearerFormat: 'opaque', description: 'An admin key' },
      'admin-key',
    );
  const document = SwaggerModule.createDocument(app, builder.build(), {
    extraModels: [ErrorBody, ...models],
  });
  const steps = [
    withOperationIds,
    withDescriptions,
    withSharedAnswers,
    withSignature,
    withRoles,
    withExamples,
    withIntegerFormats,
    withBodyRules,
  ];
  return steps.reduce((described, step) => step(described), document);
}

function ofAudience(whole: OpenAPIObject, audience: Audience, calls: readonly OutgoingCall[]): OpenAPIObject {
  const paths = Object.entries(whole.paths).filter(([path]) => audienceOf(path) === audience);
  const { info, ...rest } = whole;
  const received = calls.filter(({ party }) => party === audience.name);
  const { title, summary } = audience;
  const own = {
    ...rest,
    info: { ...info, title, description: descriptionOf(summary, audience) },
    paths: Object.fromEntries(paths),
    ...(received.length > 0 && { webhooks: itemsOf(received) }),
  };
  return withTags(withoutUnused(own));
}

/**
 * Describes the calls to an operator's wallet as the API of the wallet. An operator can generate a server from this
 * document.
 */
function ofWallet(whole: OpenAPIObject, calls: readonly OutgoingCall[]): OpenAPIObject {
  const { openapi, info, components } = whole;
  const received = calls.filter(({ party }) => party === 'operator');
  const description = `${WALLET_SUMMARY}\n\n${SIGNATURE}`;
  const document: OpenAPIObject = {
    openapi,
    info: { ...info, title: "An operator's wallet for Croupier", description },
    servers: [
      {
        url: '{walletBaseUrl}',
        variables: { walletBaseUrl: { default: 'https://wallet.example/v1' } },
        description: "The operator's wallet, as Croupier knows it",
      },
    ],
    paths: itemsOf(received),
    components: components!,
  };
  return withTags(withoutUnused(document));
}

function pathOf({ name }: Audience): string {
  return `/docs/${name}`;
}

/** The introduction of a page, in Markdown: its purpose, links to the other pages, and rules for every operation. */
function descriptionOf(summary: string, audience?: Audience): string {
  const path = audience ? pathOf(audience) : '/docs';
  const pages = [
    ['/docs', 'everything'] as const,
    ...AUDIENCES.map((one) => [pathOf(one), one.title.replace('Croupier for ', 'for ')] as const),
  ];
  const others = pages.filter(([other]) => other !== path).map(([other, words]) => `[${words}](${other})`);
  const sections = audience ? `sections ${audience.sections.join(', ')} of ` : '';
  const links =
    `Other pages: ${others.join(' · ')}. This document as [JSON](${path}-json) and [YAML](${path}-yaml). ` +
    `The rules behind the operations: ${sections}[the contract](/docs/contract).`;
  return [summary, links, ...(audience?.name === 'admin' ? [] : [SIGNATURE]), CONVENTIONS].join('\n\n');
}

type Components = Record<string, Record<string, unknown>>;

/** The document without unused components, so that an audience sees only what its operations use. */
function withoutUnused(document: OpenAPIObject): OpenAPIObject {
  const { components, ...rest } = document;
  const all = (components ?? {}) as Components;
  const used = new Set<string>();
  const follow = (part: unknown): void => {
    for (const [, section = '', name = ''] of JSON.stringify(part ?? null).matchAll(REFERENCE)) {
      const reference = `${section}/${name}`;
      if (used.has(reference)) continue;
      used.add(reference);
      follow(all[section]?.[name]);
    }
  };
  follow(rest);
  for (const name of securityOf(rest)) used.add(`securitySchemes/${name}`);
  const kept = mapValues(all, (named, section) =>
    Object.fromEntries(Object.entries(named).filter(([name]) => used.has(`${section}/${name}`))),
  );
  return { ...rest, components: kept };
}

const REFERENCE = /"#\/components\/([^/"]+)\/([^/"]+)"/g;

function securityOf({ paths, webhooks }: Pick<OpenAPIObject, 'paths' | 'webhooks'>): string[] {
  const operations = Object.values({ ...paths, ...webhooks }).flatMap(
    (item) => Object.values(item) as { security?: object[] }[],
  );
  return operations.flatMap(({ security }) => (security ?? []).flatMap((one) => Object.keys(one)));
}
