import { setTimeout as delay } from 'node:timers/promises';
import { type Case, Unmet } from './outcome.js';
import { describeReply, type Reply } from '../reply.js';
import { withSlowBody } from './signed-calls.js';
import { expectOk, expectOkAtOnce, otherProbe, probe, type Target } from './target.js';

const AT_ONCE = 10;
/** Duration of a call, in milliseconds, below which a server may answer calls one after the other. */
const SLOW_CALL_MS = 20;
/** Largest duration of concurrent calls, as a share of the time that they take one after the other. */
const SERIAL_PART = 0.7;
const LEAST_MEASUREMENTS = 3;
const MOST_MEASUREMENTS = 8;
/** No further measurement begins after this time, in milliseconds. */
const MEASURING_MS = 30_000;

const CONTENT_TYPE = 'An answer that the platform reads is JSON with the Content-Type application/json.';
const SLOW_BODY = 'A server waits for a body that arrives slowly, and answers other calls in the meantime.';
const PARALLEL = 'A server works on several calls at the same time.';
const KEPT_ALIVE =
  'A server answers several calls over one kept-alive connection, unless it answers with `Connection: close`.';

const REQUEST_ID =
  '`X-Request-Id` is optional in every request, also of the platform to a wallet or provider.';

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
        for (const call of [probe, otherProbe]) {
          if (call === otherProbe && target.other.isAnswerIgnored) continue;
          const reply = await call(target, subject);
          expectOk(reply);
          if (/^application\/json\s*(?:;|$)/i.test(reply.contentType)) continue;
          throw new Unmet('Content-Type application/json', reply.contentType || 'no Content-Type');
        }
      },
    ),
    define('request-id-absent', 'accepts a call without X-Request-Id', REQUEST_ID, async (subject) => {
      const headers = ({ 'X-Request-Id': _, ...others }: Record<string, string>) => others;
      expectOk(await probe(target, subject, { headers }));
    }),
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
      for (const reply of await Promise.all(others)) expectOkAtOnce(target, reply);
      expectOk(await probe(target, subject), 'status 200 afterwards');
      if (await answered) return;
      throw new Unmet(
        `${AT_ONCE} answers while the body of another call pauses`,
        `not all within ${halfTimeMs} ms`,
      );
    }),
    define('calls-in-parallel', 'works on several calls at the same time', PARALLEL, async (subject) => {
      const nowMs = callsOf(subject).nowMs;
      const measure = async (act: () => Promise<Reply[]>): Promise<number> => {
        const began = nowMs();
        for (const reply of await act()) expectOkAtOnce(target, reply);
        return nowMs() - began;
      };
      const endMs = nowMs() + MEASURING_MS;
      // Other work on either machine only ever adds to a duration, so the shortest ones say what the server can do.
      let [singleMs, parallelMs, times] = [Infinity, Infinity, 0];
      while (times < LEAST_MEASUREMENTS || (times < MOST_MEASUREMENTS && nowMs() < endMs)) {
        times += 1;
        for (let call = 0; call < AT_ONCE; call += 1)
          singleMs = Math.min(singleMs, await measure(async () => [await probe(target, subject)]));
        if (singleMs < SLOW_CALL_MS) return;
        const calls = () => Promise.all(Array.from({ length: AT_ONCE }, () => probe(target, subject)));
        parallelMs = Math.min(parallelMs, await measure(calls));
        if (parallelMs < singleMs * AT_ONCE * SERIAL_PART) return;
      }
      const [limit, single, parallel] = [singleMs * AT_ONCE * SERIAL_PART, singleMs, parallelMs].map(
        Math.round,
      );
      throw new Unmet(
        `${AT_ONCE} calls at once in less than ${limit} ms, ${SERIAL_PART * 100} % of ${AT_ONCE} times the fastest single call (${single} ms)`,
        `${parallel} ms at best, in ${times} measurements`,
      );
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
