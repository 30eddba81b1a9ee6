import { GroupCommit } from '../../src/database/group-commit.js';

/**
 * How the worlds of a test file commit: as the service does by itself; each statement by itself; or each, alone as it
 * may be, by the statement for many.
 */
export type GroupCommitMode = 'default' | 'off' | 'always';

let mode: GroupCommitMode = 'default';

export function groupCommitMode(): GroupCommitMode {
  return mode;
}

/** For all that follows in this file. */
export function useGroupCommit(wanted: GroupCommitMode): void {
  mode = wanted;
}

/** The environment of the mode, for worlds and for processes alike. */
export function groupCommitEnvironment(): Record<string, string> {
  return mode === 'off' ? { GROUP_COMMIT: 'false' } : {};
}

/** Sends even a single member by the statement for many. */
export class AlwaysTogether extends GroupCommit {
  protected override readonly leastTogether = 1;
}
