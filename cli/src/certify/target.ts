import { describeReply, type Reply } from '../reply.js';
import { type Deviation, type SignedCalls } from './signed-calls.js';
import { Unmet } from './outcome.js';

/** A signed call that the server under test must always accept. */
interface Probe<Subject> {
  route: string;
  /** A new body for each call. */
  body: (subject: Subject) => Record<string, unknown>;
  /** Whether the platform reads only the status of the answer. */
  isAnswerIgnored?: boolean;
}

/** The properties of a server that the cases for both providers and wallets use. */
export interface Target<Subject> {
  calls: (subject: Subject) => SignedCalls;
  probe: Probe<Subject>;
  /** The options that set the identifiers in the probe's body, which the server must know. */
  identifiers: string;
  /** A probe on another route. */
  other: Probe<Subject>;
  /** Changes the probe's body to one with a different meaning. */
  tampered: (body: Record<string, unknown>) => Record<string, unknown>;
  /** The range of statuses with which a wrong signature may be refused, both ends included. */
  refusal: { least: number; most: number };
  /** Whether concurrent calls may be answered that the outcome is not known yet. The platform sends them again. */
  isSentAgain?: boolean;
}

export function expectOk(reply: Reply, what = 'status 200', hint?: string): void {
  if (reply.status !== 200) throw new Unmet(what, describeReply(reply), hint);
}

/** Expects 200 for a call among concurrent ones, unless the platform would send it again. */
export function expectOkAtOnce({ isSentAgain }: Pick<Target<unknown>, 'isSentAgain'>, reply: Reply): void {
  if (isSentAgain !== true) expectOk(reply, 'status 200 each time');
}

/**
 * Expects that a call with a wrong signature is refused.
 * @param which names the call if the case makes several
 */
export function expectRefused(
  { refusal: { least, most } }: Pick<Target<unknown>, 'refusal'>,
  reply: Reply,
  which?: string,
): void {
  if (reply.status >= least && reply.status <= most) return;
  const status = least === most ? `status ${least}` : `a status from ${least} to ${most}`;
  throw new Unmet(which === undefined ? status : `${status} for ${which}`, describeReply(reply));
}

export function probe<Subject>(
  { calls, probe: { route, body } }: Target<Subject>,
  subject: Subject,
  deviation?: Deviation,
): Promise<Reply> {
  return calls(subject).post(route, body(subject), deviation);
}

export function otherProbe<Subject>(
  { calls, other: { route, body } }: Target<Subject>,
  subject: Subject,
  deviation?: Deviation,
): Promise<Reply> {
  return calls(subject).post(route, body(subject), deviation);
}
