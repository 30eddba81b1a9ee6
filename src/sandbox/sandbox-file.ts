import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tenant } from './platform-client.js';

/** A sandbox's addresses, and its secrets, which the admin API shows only once. */
export interface SandboxFile {
  readonly apiUrl: string;
  readonly docsUrl: string;
  readonly walletUrl: string;
  readonly providerUrl: string;
  readonly adminApiKey: string;
  readonly provider: Tenant;
  readonly operator: Tenant;
  readonly games: readonly string[];
}

export function sandboxFileIn(folder: string): string {
  return join(folder, 'sandbox.json');
}

/** The file's content, or undefined if it is missing or invalid. */
export async function readSandboxFile(path: string): Promise<SandboxFile | undefined> {
  try {
    const content = JSON.parse(await readFile(path, 'utf8')) as SandboxFile;
    const texts = [content.apiUrl, content.provider.secret, content.operator.secret];
    return texts.every((text) => typeof text === 'string') ? content : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the file atomically. Only its owner can read it. */
export async function writeSandboxFile(path: string, content: SandboxFile): Promise<void> {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  // A file that an interrupted run left would keep its permissions.
  await rm(`${path}.new`, { force: true });
  await writeFile(`${path}.new`, text, { mode: 0o600, flag: 'wx', flush: true });
  await rename(`${path}.new`, path);
}
