import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { VERSION } from '../../runtime/build.js';
import { Representation } from './representation.js';

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/**
 * The only files that are served from swagger-ui-dist. The package also has source maps, builds for bundlers and a
 * README.
 */
const OF_SWAGGER_UI: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': JAVASCRIPT,
  'favicon-32x32.png': 'image/png',
};

const SCRIPTS = ['sign-requests.js', 'show-document.js'];
const STYLES = 'page.css';

/** A page with more operations shows only its tags, each of which unfolds on a click. */
const MAX_UNFOLDED = 15;

export interface PageOptions {
  /**
   * In the sandbox, the browser stores what was typed into Authorize, for other tabs and after a reload. Elsewhere it
   * asks for confirmation before it sends a change.
   */
  readonly sandbox: boolean;
  /** The port that the addresses in the pages for integrators name; 0 leaves the default. */
  readonly port: number;
}

/** The files that all pages share, by name. */
export function sharedAssets(): Map<string, Representation> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const file = (type: string, path: string) => new Representation(type, () => readFileSync(path));
  return new Map([
    ...Object.entries(OF_SWAGGER_UI).map(([name, type]) => [name, file(type, join(folder, name))] as const),
    [STYLES, file(OF_SWAGGER_UI['swagger-ui.css']!, join(import.meta.dirname, STYLES))] as const,
    ...SCRIPTS.map((name) => [name, file(JAVASCRIPT, join(import.meta.dirname, name))] as const),
  ]);
}

export function documentScript(
  document: () => OpenAPIObject,
  { sandbox }: Pick<PageOptions, 'sandbox'>,
): Representation {
  return new Representation(JAVASCRIPT, () => {
    const spec = document();
    const operations = Object.values(spec.paths).flatMap((item) => Object.keys(item));
    const settings = {
      sandbox,
      version: VERSION,
      docExpansion: operations.length > MAX_UNFOLDED ? 'none' : 'list',
    };
    return `globalThis.showDocument(${JSON.stringify(spec)}, ${JSON.stringify(settings)});\n`;
  });
}

/**
 * The HTML of a page.
 * @param script the name of the page's document script
 * @param addressOf the address of an asset by its name
 */
export function pageHtml(title: string, script: string, addressOf: (name: string) => string): Representation {
  const scriptTag = (name: string) => `<script src="${addressOf(name)}"></script>`;
  return new Representation(
    'text/html; charset=utf-8',
    () => `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="UTF-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${title}</title>
  <link rel="stylesheet" href="${addressOf('swagger-ui.css')}">
  <link rel="stylesheet" href="${addressOf(STYLES)}">
  <link rel="icon" type="image/png" href="${addressOf('favicon-32x32.png')}" sizes="32x32">
</head>
<body>
<div id="swagger-ui"></div>
${['swagger-ui-bundle.js', ...SCRIPTS, script].map(scriptTag).join('\n')}
</body>
</html>
`,
  );
}
