import { setTimeout as delay } from 'node:timers/promises';
import { type Case, Unmet } from './outcome.js';
import { describeReply, type Reply } from '../reply.js';
import { withSlowBody } from './signed-calls.js';
import { expectOk, otherProbe, probe, type Target } from './target.js';

const AT_ONCE = 10;
/** Average duration of a call, in milliseconds, below which a server may answer calls one after the other. */
const SLOW_CALL_MS = 20;
/** Largest duration of concurrent calls, as a share of the time that they take one after the other. */
const SERIAL_PART = 0.6;
const MEASUREMENTS = 3;

const CONTENT_TYPE = 'An answer that the platform reads is JSON with the Content-Type application/json.';
const SLOW_BODY = 'A server waits for a body that arrives slowly, and answers other calls in the meantime.';
const PARALLEL = 'A server works on several calls at the same time.';
const KEPT_ALIVE = 'A server answers several calls over one kept-alive connection.';

/** The cases about HTTP: content type, slow bodies, concurrent calls. */
export function transportCases<Subject>(target: Target<Subject>): Case<Subject>[] {
  const callsOf = target.calls;
  const define = (id: string, title: string, rule: string, run: Case<Subject>['run']): Case<Subject> => ({
    id,
    title,
    group: 'transport',
    rule,
    run,
  });
  const several = (subject: Subject) =>
    Array.from({ length: AT_ONCE }, (_, index) =>
      index % 2 === 0 ? probe(target, subject) : otherProbe(target, subject),
    );

  return [
    define(
      'answer-content-type',
      'answers with Content-Type application/json',
      CONTENT_TYPE,
      async (subject) => {
        for (const reply of [await probe(target, subject), await otherProbe(target, subject)]) {
          expectOk(reply);
          if (/^application\/json\s*(?:;|$)/i.test(reply.contentType)) continue;
          throw new Unmet('Content-Type application/json', reply.contentType || 'no Content-Type');
        }
      },
    ),
    define('slow-body', 'waits for a body that arrives slowly', SLOW_BODY, async (subject) =>
      expectOk(await probe(target, subject, withSlowBody(callsOf(subject)))),
    ),
    define('calls-at-once', 'answers other calls while a body arrives slowly', SLOW_BODY, async (subject) => {
      const halfTimeMs = callsOf(subject).endpoint.timeoutMs / 2;
      const others: Promise<Reply>[] = [];
      let answered: Promise<boolean> | undefined;
      const slowCall = probe(target, subject, {
        halfway: async () => {
          others.push(...several(subject));
          const allAnswered = Promise.all(others).then(() => true);
          answered = Promise.race([allAnswered, delay(halfTimeMs, false, { ref: false })]);
          await answered;
        },
      });
      expectOk(await slowCall, 'status 200 for the slow call');
      for (const reply of await Promise.all(others)) expectOk(reply, 'status 200 each time');
      if (await answered) return;
      throw new Unmet(
        `${AT_ONCE} answers while the body of another call pauses`,
        `not all within ${halfTimeMs} ms`,
      );
    }),
    define('calls-in-parallel', 'works on several calls at the same time', PARALLEL, async (subject) => {
      let received = '';
      for (let times = 0; times < MEASUREMENTS; times += 1) {
        const nowMs = callsOf(subject).nowMs;
        let began = nowMs();
        for (let call = 0; call < AT_ONCE; call += 1) expectOk(await probe(target, subject));
        const serialMs = nowMs() - began;
        if (serialMs < SLOW_CALL_MS * AT_ONCE) return;
        began = nowMs();
        const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => probe(target, subject)));
        const parallelMs = nowMs() - began;
        for (const reply of replies) expectOk(reply, 'status 200 each time');
        if (parallelMs < serialMs * SERIAL_PART) return;
        received = `${Math.round(parallelMs)} ms for ${AT_ONCE} calls at once, ${Math.round(serialMs)} ms one after the other`;
      }
      throw new Unmet(`${AT_ONCE} calls at once to be faster than one after the other`, received);
    }),
    define(
      'calls-in-a-row',
      'answers several calls over one kept-alive connection',
      KEPT_ALIVE,
      async (subject) => {
        for (let call = 0; call < AT_ONCE; call += 1) {
          const reply = await probe(target, subject);
          if (reply.status !== 200) throw new Unmet(`status 200 for call ${call + 1}`, describeReply(reply));
        }
      },
    ),
  ];
}
