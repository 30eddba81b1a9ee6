/** Makes the exported OpenAPI documents the baseline of a release, with which later changes must be compatible. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../docs/openapi');
const released = join(folder, 'released');

mkdirSync(released, { recursive: true });
// The first has the operations of all audiences.
for (const file of ['croupier.json', 'operator-wallet.json']) {
  copyFileSync(join(folder, file), join(released, file));
}
writeFileSync(join(released, 'accepted-changes.json'), '{}\n');
