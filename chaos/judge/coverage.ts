import type { Run } from '../run.js';

/** Minimum length of a run that must include every dangerous situation, in minutes. A scripted run always must. */
const COVERED_MINUTES = 10;

/** How often each situation that a run must include has occurred. */
export interface Coverage {
  'a lease was taken over between claim and call': number;
  'booked, and the answer lost': number;
  'two answers of a wallet changed places': number;
  "a wallet's answer was sent once more": number;
  'a ROLLBACK came before its BET': number;
  'a replay while in flight': number;
  'Redis was unavailable when a nonce was claimed': number;
  'a fail-over during a commit': number;
  'a resumed instance could not settle its old attempt': number;
  'a connection was opened while PostgreSQL had other settings that a connection can state': number;
  'a connection was opened while PostgreSQL had another session_replication_role': number;
  "a connection went to the wallets' new address": number;
  "a connection went to the database's new address": number;
  "a connection went to a stranger because of the wallets' name": number;
  "a connection went to the standby because of the database's name": number;
  "the wallets' name did not resolve": number;
  "the database's name did not resolve": number;
  'a reader of the console connected again': number;
}

/** The required situations that did not occur. */
export function uncovered(
  { minutes, plan: { scripted }, parts }: Pick<Run, 'minutes' | 'parts'> & { plan: { scripted: boolean } },
  coverage: Coverage,
): string[] {
  if (!scripted && minutes < COVERED_MINUTES) return [];
  return Object.entries(coverage)
    .filter(([situation]) => parts.redis || !situation.includes('Redis'))
    .filter(([situation]) => parts.database || !/fail-over|PostgreSQL|the database's/.test(situation))
    .filter(([situation]) => parts.instances > 1 || !situation.includes('resumed'))
    .filter(([, count]) => count === 0)
    .map(([situation]) => `not covered: ${situation}`);
}
