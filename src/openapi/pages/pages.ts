import type { OpenAPIObject } from '@nestjs/swagger';
import type { Router } from 'express';
import { dump } from 'js-yaml';
import { contentSecurity, DocumentSender, UNCHANGING } from './document-sender.js';
import { guides } from './guides.js';
import { documentScript, pageHtml, type PageOptions, sharedAssets } from './page.js';
import { Representation } from './representation.js';
import { type GeneratedIds, withGeneratedIds } from '../examples.js';
import { forPages } from '../signature.js';
import { withTagsOfOperations } from '../tags.js';

/** OpenAPI documents by their path, such as `/docs/provider`. */
export interface Documents {
  readonly pages: ReadonlyMap<string, OpenAPIObject>;
  /** Documents of APIs on other servers, which a page of this server cannot call. */
  readonly withoutPage: ReadonlyMap<string, OpenAPIObject>;
}

/**
 * Renders everything that is not rendered yet. If it is called at start, the first request does not wait.
 * @param ids the objects that the pages' examples name from now on; the JSON and YAML documents stay the same
 */
export type RenderDocuments = (ids?: GeneratedIds) => void;

/**
 * Serves each document as JSON, as YAML and, unless it is in `withoutPage`, as a page to try it out; and the pages for
 * integrators. Each form is rendered and compressed once: these routes need no credentials, so they must be cheap.
 */
export function servePages(
  router: Router,
  { pages, withoutPage }: Documents,
  options: PageOptions,
): RenderDocuments {
  const assets = sharedAssets();
  const resources = guides(options.port);
  for (const [path, document] of [...pages, ...withoutPage]) {
    resources.set(`${path}-json`, jsonOf(document));
    resources.set(`${path}-yaml`, yamlOf(document));
  }
  const addressOf = (name: string) => `/docs/assets/${assets.get(name)!.version}/${name}`;
  const setPages = (ids?: GeneratedIds) => {
    for (const [path, document] of pages) {
      const script = `${path.slice(1).replace('/', '-')}.js`;
      const shown = () => withTagsOfOperations(forPages(document));
      assets.set(
        script,
        documentScript(() => (ids ? withGeneratedIds(shown(), ids) : shown()), options),
      );
      const page = pageHtml(document.info.title, script, addressOf);
      for (const address of [path, `${path}/`, `${path}/index.html`]) resources.set(address, page);
    }
  };
  setPages();
  // Swagger sets inline styles.
  const sender = new DocumentSender(contentSecurity({ styles: ["'unsafe-inline'"] }));
  for (const route of resources.keys())
    router.get(route, (request, response) => sender.send(request, response, resources.get(route)!));
  router.get('/docs/assets/:version/:name', (request, response, next) => {
    const content = assets.get(request.params.name);
    if (!content) return next();
    // A page of another version of the service, as during a rolling upgrade, gets the current assets.
    const caching = request.params.version === content.version ? UNCHANGING : {};
    return sender.send(request, response, content, caching);
  });
  return (ids) => {
    if (ids) setPages(ids);
    for (const content of [...assets.values(), ...resources.values()]) content.prepare();
  };
}

function jsonOf(document: OpenAPIObject): Representation {
  return new Representation('application/json; charset=utf-8', () => JSON.stringify(document));
}

function yamlOf(document: OpenAPIObject): Representation {
  return new Representation('text/yaml', () => dump(document, { skipInvalid: true, noRefs: true }));
}
