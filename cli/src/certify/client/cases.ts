import { type Case, Unmet } from '../outcome.js';
import type { ClientRun, ClientRunner, Kind, Verdict } from './client-runner.js';
import type { Step } from './fake-platform.js';

const APPROVE: Step = { does: 'decide', status: 'APPROVED' };
const DECLINE: Step = { does: 'decide', status: 'DECLINED' };
const HANG: Step = { does: 'hang' };
const refuse = (status: number, code: string, next: string, retryAfterSeconds?: number): Step => ({
  does: 'refuse',
  status,
  code,
  next,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
});
const UNAVAILABLE = refuse(500, 'OPERATOR_UNAVAILABLE', 'retry-same-request');
const SESSION_INVALID = refuse(401, 'SESSION_INVALID', 'end-session');
const proxy = (
  status: number,
  headers: Record<string, string> = {},
  text = 'upstream connect error: connection termination',
): Step => ({ does: 'proxy', status, headers, text: `<html>${text}</html>` });
/** Longer than the second that a client waits without `Retry-After`. */
const THROTTLED_SECONDS = 3;
const OVERLOADED_SECONDS = 2;
/** The pause that `Retry-After` demands, in milliseconds. A little less, because timers are not exact. */
const pauseOf = (retryAfterSeconds: number) => 1000 * retryAfterSeconds - 50;

/** A case as a row: the platform's answers, and the verdict that the client must reach. */
interface Row {
  id: string;
  title: string;
  rule: string;
  script: Step[];
  verdicts: Verdict[];
  /** Bounds on the number of requests. Default: at least one. */
  requests?: { least?: number; most?: number };
  /** Shortest pause before the second request, in milliseconds. */
  pauseMs?: number;
}

const FINAL = 'APPROVED and DECLINED are final, also after an error: stop retrying.';
const RETRY =
  'Repeat after the next actions retry-same-request and wait-then-retry, and if the answer says nothing about the money, is late or breaks off: send the same bytes again, with a new nonce and signature.';
const WAIT =
  'Before you retry, wait the seconds that Retry-After names; after wait-then-retry without it, wait about a second.';
const WORST =
  'The worst outcome of all attempts counts, also if you give up retrying. A time-out followed by a 401 is unknown.';
const WHOLE_ANSWER = 'The time-out of an attempt covers the whole answer, also one that arrives slowly.';
const UNKNOWN_CODE =
  'If you do not know an `X-Error-Code`, follow `X-Next-Action`: codes may be added, the five actions remain.';
const REFUSED =
  'Do not repeat after the next actions fix-request, end-session and contact-platform, and the 401 invalid signature, even if the outcome is unknown, as after a 500 with contact-platform.';
const ID_REUSED =
  'After TRANSACTION_ID_REUSED the outcome is unknown, because another transaction with this id may be booked.';
const REDIRECT = 'Follow no redirect with a signed request; its outcome is unknown.';
const PROXY =
  'An error without both headers, except the 401 invalid signature, and a 200 that is not a decision say nothing about the money: the outcome is unknown.';
const DECISION =
  'A decision has your transactionId, the status APPROVED or DECLINED, and a balance that is an integer.';

/** More requests than this in one run are no retries with pauses. */
const MOST_REQUESTS = 100;
/** Shortest pause that counts as about a second, in milliseconds. */
const ABOUT_A_SECOND_MS = 700;
const ONCE = { most: 1 };
const TWICE = { least: 2 };

const DECISIONS: Row[] = [
  {
    id: 'approved',
    title: 'takes APPROVED as final',
    rule: FINAL,
    script: [APPROVE],
    verdicts: ['approved'],
    requests: ONCE,
  },
  {
    id: 'declined',
    title: 'takes DECLINED as final',
    rule: FINAL,
    script: [DECLINE],
    verdicts: ['declined'],
    requests: ONCE,
  },
  {
    id: 'declined-after-error',
    title: 'takes DECLINED after an error as final',
    rule: FINAL,
    script: [UNAVAILABLE, DECLINE],
    verdicts: ['declined'],
    requests: TWICE,
  },
  {
    id: 'forged-answer',
    title: 'does not accept an answer for another transactionId',
    rule: DECISION,
    script: [{ does: 'forge', transactionId: 'another-transaction' }],
    verdicts: ['unknown'],
  },
  {
    id: 'forged-answer-unnamed',
    title: 'does not accept an answer without a transactionId',
    rule: DECISION,
    script: [{ does: 'forge', transactionId: undefined }],
    verdicts: ['unknown'],
  },
];

const RETRIES: Row[] = [
  ...(
    [
      ['error-500', 'a 500 with retry-same-request', UNAVAILABLE],
      ['hang', 'a platform that never answers', HANG],
      ['hang-halfway', 'an answer that stops in the middle', { does: 'hang-halfway' }],
      ['cut', 'a connection that was cut', { does: 'cut' }],
      ['cut-halfway', 'a connection that was cut in the middle of the answer', { does: 'cut-halfway' }],
      ['proxy-503', "a proxy's 503, which says nothing about money", proxy(503)],
    ] as const
  ).map(([id, what, step]) => ({
    id: `retry-${id}`,
    title: `sends the same request again after ${what}`,
    rule: RETRY,
    script: [step, APPROVE],
    verdicts: ['approved' as const],
    requests: TWICE,
  })),
  {
    id: 'retry-drip',
    title: 'sends the same request again after an answer that arrives slowly and never ends',
    rule: WHOLE_ANSWER,
    script: [{ does: 'drip' }, APPROVE],
    verdicts: ['approved'],
    requests: TWICE,
  },
  {
    id: 'retry-in-flight',
    title: 'waits about a second after a 409 before it sends the same request again',
    rule: WAIT,
    script: [refuse(409, 'TRANSACTION_IN_FLIGHT', 'wait-then-retry'), APPROVE],
    verdicts: ['approved'],
    requests: TWICE,
    pauseMs: ABOUT_A_SECOND_MS,
  },
  {
    id: 'retry-throttled',
    title: 'waits for Retry-After before it sends the same request again',
    rule: WAIT,
    script: [refuse(429, 'RATE_LIMITED', 'wait-then-retry', THROTTLED_SECONDS), APPROVE],
    verdicts: ['approved'],
    requests: TWICE,
    pauseMs: pauseOf(THROTTLED_SECONDS),
  },
  {
    id: 'retry-overloaded',
    title: 'waits for Retry-After of a 500, too',
    rule: WAIT,
    script: [refuse(500, 'OVERLOADED', 'retry-same-request', OVERLOADED_SECONDS), APPROVE],
    verdicts: ['approved'],
    requests: TWICE,
    pauseMs: pauseOf(OVERLOADED_SECONDS),
  },
  {
    id: 'retry-twice',
    title: 'sends the same request a third time',
    rule: RETRY,
    script: [UNAVAILABLE, { does: 'cut' }, APPROVE],
    verdicts: ['approved'],
    requests: { least: 3 },
  },
  {
    id: 'retry-bounded',
    title: 'gives up eventually and reports unknown',
    rule: WORST,
    script: [UNAVAILABLE],
    verdicts: ['unknown'],
    requests: { least: 2, most: MOST_REQUESTS },
  },
  {
    id: 'retry-throttled-bounded',
    title: 'gives up eventually after 429 and reports not-booked',
    rule: WORST,
    script: [refuse(429, 'RATE_LIMITED', 'wait-then-retry', 1)],
    verdicts: ['not-booked'],
    requests: { least: 2, most: MOST_REQUESTS },
  },
  {
    id: 'retry-unknown-code',
    title: 'sends the same request again after a code that it does not know with retry-same-request',
    rule: UNKNOWN_CODE,
    script: [refuse(500, 'CERTIFY_UNKNOWN', 'retry-same-request'), APPROVE],
    verdicts: ['approved'],
    requests: TWICE,
  },
];

const REFUSALS: Row[] = [
  ...(
    [
      ['invalid-request', refuse(400, 'INVALID_REQUEST', 'fix-request')],
      ['signature', { does: 'refuse-signature' }],
      ['session', SESSION_INVALID],
      ['session-of-another', refuse(403, 'SESSION_OF_ANOTHER_PROVIDER', 'fix-request')],
      ['not-configured', refuse(503, 'GAME_NOT_CONFIGURED', 'contact-platform')],
    ] as const
  ).map(([id, step]) => ({
    id: `refused-${id}`,
    title: `reports not-booked after ${step.does === 'refuse' ? step.code : 'invalid signature'}`,
    rule: REFUSED,
    script: [step],
    verdicts: ['not-booked' as const],
    requests: ONCE,
  })),
  {
    id: 'refused-unknown-code',
    title: 'reports not-booked after a code that it does not know with fix-request',
    rule: UNKNOWN_CODE,
    script: [refuse(400, 'CERTIFY_UNKNOWN', 'fix-request')],
    verdicts: ['not-booked'],
    requests: ONCE,
  },
];

const DOUBTS: Row[] = [
  {
    id: 'doubt-id-reused',
    title: 'reports unknown after TRANSACTION_ID_REUSED',
    rule: ID_REUSED,
    script: [refuse(400, 'TRANSACTION_ID_REUSED', 'fix-request')],
    verdicts: ['unknown'],
    requests: ONCE,
  },
  {
    id: 'doubt-hang-then-refused',
    title: 'reports unknown when a call without an answer is followed by a refusal',
    rule: WORST,
    script: [HANG, SESSION_INVALID],
    verdicts: ['unknown'],
  },
  {
    id: 'doubt-contact-platform',
    title: 'reports unknown after a 500 with contact-platform',
    rule: REFUSED,
    script: [refuse(500, 'INTERNAL', 'contact-platform')],
    verdicts: ['unknown'],
  },
  {
    id: 'doubt-contact-platform-once',
    title: 'does not repeat a request after a 500 with contact-platform',
    rule: REFUSED,
    script: [refuse(500, 'INTERNAL', 'contact-platform'), APPROVE],
    verdicts: ['unknown'],
    requests: ONCE,
  },
  {
    id: 'doubt-error-then-not-configured',
    title: 'reports unknown when a 500 is followed by a refusal',
    rule: WORST,
    script: [UNAVAILABLE, refuse(503, 'GAME_NOT_CONFIGURED', 'contact-platform')],
    verdicts: ['unknown'],
  },
  {
    id: 'doubt-proxy-then-refused',
    title: "reports unknown when a proxy's error is followed by a refusal",
    rule: WORST,
    script: [proxy(503), SESSION_INVALID],
    verdicts: ['unknown'],
  },
  {
    id: 'doubt-other-status',
    title: 'takes no status but APPROVED and DECLINED for a decision',
    rule: PROXY,
    script: [{ does: 'decide', status: 'PENDING' }],
    verdicts: ['unknown'],
  },
  {
    id: 'doubt-balance-missing',
    title: 'takes no answer without a balance for a decision',
    rule: DECISION,
    script: [{ does: 'decide', status: 'APPROVED', balance: undefined }],
    verdicts: ['unknown'],
  },
  {
    id: 'doubt-balance-text',
    title: 'takes no answer whose balance is a text for a decision',
    rule: DECISION,
    script: [{ does: 'decide', status: 'APPROVED', balance: '1000' }],
    verdicts: ['unknown'],
  },
  ...[307, 302, 308].map((status) => ({
    id: status === 307 ? 'doubt-redirect' : `doubt-redirect-${status}`,
    title: `follows no redirect with a signed request: ${status}`,
    rule: REDIRECT,
    script: [proxy(status, { Location: '/elsewhere' })],
    verdicts: ['unknown' as const],
  })),
  {
    id: 'doubt-empty',
    title: 'reports unknown after a 200 without a body',
    rule: PROXY,
    script: [{ does: 'proxy', status: 200, text: '' }],
    verdicts: ['unknown'],
  },
  {
    id: 'doubt-accepted',
    title: "reports unknown after a proxy's 202",
    rule: PROXY,
    script: [proxy(202)],
    verdicts: ['unknown'],
  },
  ...[401, 403, 404, 408, 503].map((status) => ({
    id: `doubt-proxy-${status}`,
    title: `reports unknown after a proxy's ${status}`,
    rule: PROXY,
    script: [proxy(status)],
    verdicts: ['unknown' as const],
  })),
  {
    id: 'doubt-signature-page',
    title: "reports unknown after a proxy's 401 whose page says invalid signature",
    rule: PROXY,
    script: [proxy(401, {}, 'invalid signature')],
    verdicts: ['unknown'],
  },
  {
    id: 'doubt-page',
    title: 'reports unknown after a 200 with an HTML page',
    rule: PROXY,
    script: [proxy(200)],
    verdicts: ['unknown'],
  },
];

/** The BET cases that are repeated with a WIN and a ROLLBACK: a selection from each group. */
const OF_EVERY_KIND: ReadonlySet<string> = new Set([
  'approved',
  'declined',
  'forged-answer',
  'retry-error-500',
  'retry-in-flight',
  'retry-hang',
  'retry-cut-halfway',
  'retry-bounded',
  'refused-session',
  'doubt-hang-then-refused',
  'doubt-proxy-404',
]);

/** Every case for a client of the platform. Contract, sections 1 to 3. */
export const CLIENT_CASES: readonly Case<ClientRunner>[] = [
  ...cases('decision', DECISIONS),
  ...cases('retry', RETRIES),
  ...cases('refusal', REFUSALS),
  ...cases('doubt', DOUBTS),
  ...repeated('WIN'),
  ...repeated('ROLLBACK'),
];

function cases(group: string, rows: readonly Row[]): Case<ClientRunner>[] {
  return rows.map((row) => ({
    id: row.id,
    title: row.title,
    group,
    rule: row.rule,
    run: async (runner) => judge(row, await runner.run('BET', row.script)),
  }));
}

function repeated(kind: Kind): Case<ClientRunner>[] {
  const group = kind.toLowerCase();
  return [...DECISIONS, ...RETRIES, ...REFUSALS, ...DOUBTS]
    .filter(({ id }) => OF_EVERY_KIND.has(id))
    .map((row) => ({
      id: `${group}-${row.id}`,
      title: `${kind}: ${row.title}`,
      group,
      rule: row.rule,
      run: async (runner) => judge(row, await runner.run(kind, row.script)),
    }));
}

function judge({ verdicts, requests = {}, pauseMs = 0 }: Row, { verdict, arrivals }: ClientRun): void {
  const { least = 1, most = Infinity } = requests;
  if (!verdicts.includes(verdict)) throw new Unmet(`the verdict ${verdicts.join(' or ')}`, verdict);
  if (arrivals.length < least) throw new Unmet(`at least ${least} requests`, String(arrivals.length));
  if (arrivals.length > most)
    throw new Unmet(`at most ${most} request${most === 1 ? '' : 's'}`, String(arrivals.length));
  const [first, second] = arrivals;
  const pausedMs = first && second ? Math.round(second.atMs - first.atMs) : Infinity;
  if (pausedMs < pauseMs) throw new Unmet(`a pause of at least ${pauseMs} ms`, `${pausedMs} ms`);
}
