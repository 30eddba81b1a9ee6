import { createRequire } from 'node:module';

// Found by the package's own name for it, because the file is also compiled to other folders, as for the simulation.
const manifest = createRequire(import.meta.url)('#manifest') as { version: string };

export const VERSION = manifest.version;
