import { readFileSync } from 'node:fs';

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

/** The version of the service, as in its package.json. */
export const VERSION = (JSON.parse(manifest) as { version: string }).version;
