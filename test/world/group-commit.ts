import { GroupCommit } from '../../src/database/group-commit.js';

/** How the worlds of a test file commit: as the service ships, each item individually, or always by the batch form. */
export type GroupCommitMode = 'default' | 'off' | 'always';

let mode: GroupCommitMode = 'default';

export function groupCommitMode(): GroupCommitMode {
  return mode;
}

/** Sets the mode for all worlds that this file starts from now on. */
export function useGroupCommit(wanted: GroupCommitMode): void {
  mode = wanted;
}

/** The environment of the mode, for worlds and for processes alike. */
export function groupCommitEnvironment(): Record<string, string> {
  return mode === 'off' ? { GROUP_COMMIT: 'false' } : {};
}

/** Sends even a single item by the batch form of its statement. */
export class AlwaysBatched extends GroupCommit {
  protected override readonly smallestBatch = 1;
}
