import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A fresh folder that the account under which PostgreSQL runs can enter. Root's own temporary folder may be closed to
 * it, `/tmp` is open to all.
 */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'croupier-test-'));
  await chmod(path, 0o711);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
