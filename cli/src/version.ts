import { createRequire } from 'node:module';

/** This package's version, for the reports. */
export const { version: VERSION } = createRequire(import.meta.url)('../package.json') as { version: string };
