/** Adds to the compiled SDK what the compiler does not write: the type of the CommonJS copy, the provider's OpenAPI, and llms.txt. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const sdk = import.meta.dirname;

writeFileSync(join(sdk, 'dist/cjs/package.json'), JSON.stringify({ type: 'commonjs' }));
copyFileSync(join(sdk, '../docs/openapi/provider.json'), join(sdk, 'openapi.json'));
copyFileSync(join(sdk, '../docs/llms.txt'), join(sdk, 'llms.txt'));
