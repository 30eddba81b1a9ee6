import { describe, expect, test } from 'vitest';
import { type Coverage, uncovered } from '../../chaos/judge/coverage.js';
import { planOf } from '../../chaos/plan.js';
import { NAMES } from '../../chaos/processes/names.js';

const EVERYTHING: Coverage = {
  'a lease was taken over between claim and call': 1,
  'booked, and the answer lost': 1,
  'two answers of a wallet changed places': 1,
  "a wallet's answer was sent once more": 1,
  'a ROLLBACK came before its BET': 1,
  'a replay while in flight': 1,
  'Redis was unavailable when a nonce was claimed': 1,
  'a fail-over during a commit': 1,
  'a resumed instance could not settle its old attempt': 1,
  'a connection was opened while PostgreSQL had other settings that a connection can state': 1,
  'a connection was opened while PostgreSQL had another session_replication_role': 1,
  "a connection went to the wallets' new address": 1,
  "a connection went to the database's new address": 1,
  "a connection went to a stranger because of the wallets' name": 1,
  "a connection went to the standby because of the database's name": 1,
  "the wallets' name did not resolve": 1,
  "the database's name did not resolve": 1,
  'a reader of the console connected again': 1,
};
const parts = { instances: 2, database: true, redis: true };
const run = { minutes: 10, parts, plan: { scripted: false } };

describe('a run of ten minutes', () => {
  test('with every situation has no finding', () => {
    expect(uncovered(run, EVERYTHING)).toEqual([]);
  });

  test.each(Object.keys(EVERYTHING) as (keyof Coverage)[])('must include: %s', (situation) => {
    expect(uncovered(run, { ...EVERYTHING, [situation]: 0 })).toEqual([`not covered: ${situation}`]);
  });

  test('on the embedded database includes what concerns the wallets and their name', () => {
    const embedded = { ...run, parts: { instances: 1, database: false, redis: false } };
    const nothing = Object.fromEntries(Object.keys(EVERYTHING).map((situation) => [situation, 0]));
    const missing = uncovered(embedded, nothing as unknown as Coverage);
    expect(missing.filter((situation) => /name|address/.test(situation))).toEqual([
      "not covered: a connection went to the wallets' new address",
      "not covered: a connection went to a stranger because of the wallets' name",
      "not covered: the wallets' name did not resolve",
    ]);
    expect(missing.filter((situation) => /Redis|PostgreSQL|fail-over|resumed/.test(situation))).toEqual([]);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'has faults of both names and of both groups of settings: seed %i',
    (seed) => {
      const { faults } = planOf(seed, 10, parts);
      for (const kind of ['name-moves', 'name-misleads', 'name-lost'] as const) {
        const names = faults.names.flatMap(({ fault }) => (fault.kind === kind ? [fault.name] : []));
        expect(new Set(names)).toEqual(new Set(NAMES));
      }
      const roles = faults.database.flatMap(({ fault }) =>
        fault.kind === 'database-settings' ? [fault.settings.includes('session_replication_role')] : [],
      );
      expect(new Set(roles)).toEqual(new Set([true, false]));
    },
  );
});

test('a shorter run need not include every situation, the script must', () => {
  const missing = { ...EVERYTHING, "the database's name did not resolve": 0 };
  expect(uncovered({ ...run, minutes: 9 }, missing)).toEqual([]);
  expect(uncovered({ ...run, minutes: 5, plan: { scripted: true } }, missing)).toHaveLength(1);
});
