import { open } from 'node:fs/promises';

/** Writes the entries of a folder to disk, so that a new or renamed entry survives a crash or power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
