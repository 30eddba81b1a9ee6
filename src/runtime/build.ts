import { createRequire } from 'node:module';
import { dirname } from 'node:path';

// Found by the package's own name for it, because the file is also compiled to other folders, as for the simulation.
const require = createRequire(import.meta.url);
const manifest = require('#manifest') as { version: string };

export const VERSION = manifest.version;

/** The folder of the package, whose `dist` has what is built. */
export const PACKAGE_FOLDER = dirname(require.resolve('#manifest'));
