import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Representation } from './representation.js';

const JAVASCRIPT = 'application/javascript; charset=utf-8';

/** All that a page loads from swagger-ui-dist. Its package also holds source maps, builds for bundlers and a README. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'index.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': JAVASCRIPT,
  'swagger-ui-standalone-preset.js': JAVASCRIPT,
  'favicon-32x32.png': 'image/png',
  'favicon-16x16.png': 'image/png',
};

/** The project's own scripts, which all pages share. */
const SCRIPTS = ['sign-requests.js', 'show-document.js'];

export interface PageOptions {
  /** Whether the browser keeps what was typed into Authorize, for other tabs and after a reload. */
  readonly keepAuthorizations: boolean;
}

/** Swagger UI's files by name. */
export function pageAssets(): Map<string, Representation> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const load = ([name, type]: [string, string]) =>
    [name, new Representation(type, () => readFileSync(join(folder, name)))] as const;
  return new Map(Object.entries(ASSETS).map(load));
}

/** The project's own scripts by name. */
export function pageScripts(): Map<string, Representation> {
  const load = (name: string) => {
    const content = () => readFileSync(join(import.meta.dirname, name));
    return [name, new Representation('text/javascript; charset=utf-8', content)] as const;
  };
  return new Map(SCRIPTS.map(load));
}

/** @param base the folder of Swagger UI's files, relative to the page */
export function pageHtml(base: string): Representation {
  return new Representation(
    'text/html',
    () => `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="UTF-8">
  <title>Croupier</title>
  <link rel="stylesheet" href="${base}swagger-ui.css">
  <link rel="stylesheet" href="${base}index.css">
  <link rel="icon" type="image/png" href="${base}favicon-32x32.png" sizes="32x32">
  <link rel="icon" type="image/png" href="${base}favicon-16x16.png" sizes="16x16">
  <style>.swagger-ui .topbar .download-url-wrapper { display: none }</style>
</head>
<body>
<div id="swagger-ui"></div>
<script src="${base}swagger-ui-bundle.js"></script>
<script src="${base}swagger-ui-standalone-preset.js"></script>
${SCRIPTS.map((name) => `<script src='/docs/${name}'></script>`).join('\n')}
<script src="${base}swagger-ui-init.js"></script>
</body>
</html>
`,
  );
}

/** The script of one page, which holds its document. */
export function pageInit(document: () => OpenAPIObject, { keepAuthorizations }: PageOptions): Representation {
  const options = JSON.stringify({ persistAuthorization: keepAuthorizations });
  return new Representation(
    'application/javascript',
    () => `globalThis.showDocument(${JSON.stringify(document())}, ${options});\n`,
  );
}
