import { expect, test } from 'vitest';
import type { Audit } from '../../src/audit/audit.service.js';
import type { NewEntry } from '../../src/audit/entry.js';
import { RepeatedEntries } from '../../src/audit/repeated-entries.js';
import { Background } from '../../src/runtime/background.js';
import { TestClock } from '../world/test-clock.js';

const ACTOR = { actor: 'root', role: 'admin' } as const;
const ENTRY = { action: 'test.read', target: 'test' };

test('a first entry that fails after its minute does not lose the repetitions of the next one', async () => {
  const clock = new TestClock();
  const background = new Background();
  const recorded: NewEntry[] = [];
  let fail = (_: Error): void => undefined;
  const answers = [new Promise<void>((_, reject) => (fail = reject))];
  const audit = { record: (_: unknown, entry: NewEntry) => answers.shift() ?? void recorded.push(entry) };
  const repeated = new RepeatedEntries(audit as unknown as Audit, clock, background);
  const endWindows = async () => {
    clock.advance(61);
    await background['works'][0]!.loop.run();
  };
  const first = repeated.record(ACTOR, ENTRY);
  await endWindows();
  await repeated.record(ACTOR, ENTRY);
  await repeated.record(ACTOR, ENTRY);
  fail(new Error('unavailable'));
  await expect(first).rejects.toThrow('unavailable');
  await endWindows();
  expect(recorded).toMatchObject([ENTRY, { after: { repeats: 1 } }]);
});
