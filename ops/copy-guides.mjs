/** Copies the pages for integrators into the build, which serves them. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { COPIES, SOURCES } from '../dist/openapi/pages/guides.js';

const ROOT = join(import.meta.dirname, '..');

rmSync(COPIES, { recursive: true, force: true });
for (const source of SOURCES) cpSync(join(ROOT, source), join(COPIES, source));
