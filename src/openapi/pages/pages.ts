import type { OpenAPIObject } from '@nestjs/swagger';
import type { Router } from 'express';
import helmet from 'helmet';
import { dump } from 'js-yaml';
import { CroupierError } from '../../errors/croupier-error.js';
import { answerWith } from '../../errors/error.filter.js';
import { headersOf } from '../../http/server/security-headers.js';
import { DocumentBudget } from './document-budget.js';
import { pageAssets, pageHtml, pageInit, type PageOptions, pageScripts } from './page.js';
import { Representation } from './representation.js';
import { forTheDesk } from '../signature.js';

/** Scripts from here alone, calls to here alone; Swagger sets styles inline. */
const CONTENT_SECURITY = headersOf(
  helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  }),
);

/**
 * Serves each document as JSON, as YAML and as a page to try it out. Each is rendered and compressed once: these routes
 * need no credentials, so a request to them must cost next to nothing.
 * @param documents by their path, such as `/docs/provider`
 * @returns renders everything that no request has rendered yet
 */
export function servePages(
  router: Router,
  documents: ReadonlyMap<string, OpenAPIObject>,
  options: PageOptions,
): () => void {
  const assets = pageAssets();
  const routes = new Map([...pageScripts()].map(([name, script]) => [`/docs/${name}`, script]));
  for (const [path, document] of documents) {
    for (const [route, content] of routesOf(path, document, assets, options)) routes.set(route, content);
  }
  const budget = new DocumentBudget();
  for (const [route, content] of routes) {
    router.get(route, (request, response) => {
      const waitSeconds = budget.spend(request.ip ?? '');
      if (waitSeconds > 0) return answerWith(refusal(waitSeconds), response);
      const { status, headers, body } = content.answer(request);
      response.writeHead(status, { ...CONTENT_SECURITY, ...headers }).end(body);
    });
  }
  return () => routes.forEach((content) => content.prepare());
}

const YAML = { skipInvalid: true, noRefs: true };

function routesOf(
  path: string,
  document: OpenAPIObject,
  assets: ReadonlyMap<string, Representation>,
  options: PageOptions,
): Map<string, Representation> {
  // A browser resolves names against the folder of the page: for /docs/provider that is /docs/, for /docs/provider/ itself.
  const inFolder = pageHtml('./');
  const beside = pageHtml(`./${path.slice(path.lastIndexOf('/') + 1)}/`);
  return new Map([
    [`${path}-json`, new Representation('application/json; charset=utf-8', () => JSON.stringify(document))],
    [`${path}-yaml`, new Representation('text/yaml', () => dump(document, YAML))],
    [path, beside],
    [`${path}/`, inFolder],
    [`${path}/index.html`, inFolder],
    [`${path}/swagger-ui-init.js`, pageInit(() => forTheDesk(document), options)],
    ...[...assets].map(([name, asset]) => [`${path}/${name}`, asset] as const),
  ]);
}

function refusal(waitSeconds: number): CroupierError {
  return new CroupierError('RATE_LIMITED', undefined, { 'Retry-After': String(waitSeconds) });
}
