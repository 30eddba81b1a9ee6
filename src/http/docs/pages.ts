import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import helmet from 'helmet';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { headersOf } from '../security-headers.js';
import { forTheDesk } from './signature.js';

const SCRIPT_PATH = '/docs/sign-requests.js';

/** What Swagger's requests go through: where the script is missing it throws, and nothing is sent. */
const interceptor = (request: unknown): unknown =>
  (globalThis as unknown as { signForCroupier: (request: unknown) => unknown }).signForCroupier(request);

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
const UNDER_DOCS = /^\/docs([/?]|$)/;

/** What the pages share: the script that signs, and what the browser may do. To be called before `servePage`. */
export function serveDesk(app: NestFastifyApplication): void {
  const instance = app.getHttpAdapter().getInstance();
  instance.addHook('onRequest', (request, reply, done) => {
    if (UNDER_DOCS.test(request.url)) void reply.headers(CONTENT_SECURITY);
    done();
  });
  const script = readFileSync(join(import.meta.dirname, 'sign-requests.js'));
  instance.get(SCRIPT_PATH, (_request, reply) => reply.type('text/javascript; charset=utf-8').send(script));
}

/** Serves one document as a page to try it out, and with `-json` and `-yaml` as it is. */
export function servePage(app: NestFastifyApplication, path: string, document: OpenAPIObject): void {
  SwaggerModule.setup(path, app, document, {
    ui: false,
    jsonDocumentUrl: `${path}-json`,
    yamlDocumentUrl: `${path}-yaml`,
  });
  SwaggerModule.setup(path, app, forTheDesk(document), {
    raw: false,
    customSiteTitle: 'Croupier',
    customJs: SCRIPT_PATH,
    swaggerOptions: { persistAuthorization: true, requestInterceptor: interceptor },
  });
}
