import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { BoundedLogger } from '../../observability/bounded-logger.js';
import type { ReceivedAnswer } from '../../outbound/answer.js';
import { failureText } from '../../runtime/failure-text.js';
import { OperatorAnswerStore } from './operator-answer.store.js';
import type { Claim } from '../transaction.js';

/** Longest stored part of an answer, in bytes. Contract, section 7, "What an attempt shows". */
const KEPT_BYTES = 4096;
/** Longest time that an attempt waits for its answer to be stored, in milliseconds; the write continues afterwards. */
const PATIENCE_MS = 200;
/** Maximum number of writes under way, each of at most 4 KiB. Further answers are dropped with a warning in the log. */
const MAX_WRITES = 64;

/** Stores invalid answers of operators for the desk. */
@Injectable()
export class OperatorAnswers {
  private readonly logger = new BoundedLogger('OperatorAnswers');
  private writes = 0;

  constructor(private readonly store: OperatorAnswerStore) {}

  /**
   * Stores the body of an answer. Called after the settlement, so that the write does not delay it. A crash in between
   * loses the body, never the outcome. The promise never rejects.
   */
  async keep({ attempt, operatorRequest }: Claim, { body }: ReceivedAnswer): Promise<void> {
    if (body.length === 0) return;
    const { providerId, transactionId } = operatorRequest;
    const ids = { providerId, transactionId, attempt };
    if (this.writes >= MAX_WRITES) {
      this.logger.warn({ msg: "an operator's answer was not stored: too many writes under way", ...ids });
      return;
    }
    this.writes += 1;
    const written = this.store
      .keep(providerId, { transactionId, attempt, body: harmlessText(body) })
      .catch((error: unknown) => {
        const detail = failureText(error);
        this.logger.warn({ msg: "an operator's answer could not be stored", ...ids, detail });
      })
      .finally(() => (this.writes -= 1));
    await Promise.race([written, sleep(PATIENCE_MS, undefined, { ref: false })]);
  }
}

/** The first 4 KiB of a body as text. Line breaks and tabs become spaces, other control characters U+FFFD. */
function harmlessText(body: Buffer): string {
  return body
    .subarray(0, KEPT_BYTES)
    .toString('utf8')
    .replace(/[\t\n\r]/g, ' ')
    .replace(/\p{Cc}/gu, '\uFFFD');
}
