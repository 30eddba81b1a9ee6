import { basename, dirname, join } from 'node:path';
import { Randomness } from './randomness.js';

/** A temporary name, in the folder of `path`, for a file that gets this path when it is complete. No other run uses it. */
export function unfinishedPath(path: string): string {
  const suffix = new Randomness().bytes(6).toString('hex');
  return join(dirname(path), `.${basename(path)}.${suffix}.unfinished`);
}
