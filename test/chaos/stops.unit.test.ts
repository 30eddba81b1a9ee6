import { describe, expect, test } from 'vitest';
import { judgeStops } from '../../chaos/judge/stops.js';
import type { FaultRecord } from '../../chaos/load/history.js';
import type { Unanswered } from '../../chaos/load/provider.js';
import type { Fault } from '../../chaos/plan.js';

/** A connection that an instance closed when its listener closed, 3 s after its signal. */
const CLOSED: Unanswered = {
  transactionId: 'bet-1',
  instance: 0,
  signalledAt: 100_000,
  sent: 100_900,
  lostAt: 103_010,
  code: 'ECONNRESET',
  lagMs: 0,
  silent: false,
  reused: true,
  reached: true,
  answerBegun: false,
};
const SILENT: Unanswered = { ...CLOSED, silent: true, code: 'NO_ANSWER_IN_TIME', lostAt: 108_900 };

describe('a request whose connection a stopping instance closes', () => {
  test.each<{ when: string; lost: Partial<Unanswered> }>([
    { when: 'its connection was kept alive', lost: {} },
    { when: 'the listener was closed', lost: { reused: false, reached: false } },
    { when: 'the tool sent it too late', lost: { reused: false, lagMs: 2001 } },
  ])('is sent again if $when', ({ lost }) => {
    expect(judgeStops([{ ...CLOSED, ...lost }], [])).toEqual({ sentAgain: 1, violations: [] });
  });

  test.each<{ when: string; lost: Partial<Unanswered>; says: string }>([
    {
      when: 'the listener is still open',
      lost: { lostAt: 102_900 },
      says: 'closed a connection (ECONNRESET) 2900 ms after its signal',
    },
    {
      when: 'the answer has begun',
      lost: { answerBegun: true },
      says: 'sent only a part of an answer (ECONNRESET)',
    },
    {
      when: 'the connection is new',
      lost: { reused: false, lagMs: 2000 },
      says: 'closed a new connection without an answer (ECONNRESET) 3010 ms after its signal',
    },
  ])('is a finding if $when', ({ lost, says }) => {
    expect(judgeStops([{ ...CLOSED, ...lost }], [])).toEqual({
      sentAgain: 0,
      violations: [`bet-1: instance 0, which was stopping, ${says}`],
    });
  });
});

describe('a request that a stopping instance does not answer', () => {
  const during = (fault: Fault): FaultRecord[] => [{ fault, from: 99_000, to: 115_000 }];

  test.each<{ during: string; faults: FaultRecord[] }>([
    { during: 'nothing else', faults: [] },
    { during: 'the stop itself', faults: during({ kind: 'rolling-restart' }) },
    {
      during: 'a fault of the wallets',
      faults: during({ kind: 'cut', link: 'wallet', instance: 0, forMs: 1 }),
    },
  ])('is a finding during $during', ({ faults }) => {
    expect(judgeStops([SILENT], faults)).toEqual({
      sentAgain: 0,
      violations: ['bet-1: instance 0, which was stopping, gave no answer in 8000 ms, without another fault'],
    });
  });

  test('is explained by a fault of the database', () => {
    expect(judgeStops([SILENT], during({ kind: 'fail-over' })).violations).toEqual([]);
  });

  test("is explained by the tool's own lag, but by no more than that", () => {
    expect(judgeStops([{ ...SILENT, lagMs: 1 }], []).violations).toEqual([]);
    expect(judgeStops([{ ...SILENT, lostAt: 108_901, lagMs: 1 }], []).violations).toHaveLength(1);
  });
});
