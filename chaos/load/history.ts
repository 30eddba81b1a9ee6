import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { TransactionRequest } from '../../src/wallet/rules/facts.js';
import type { Fault } from '../plan.js';
import type { OperatorId, ProviderId } from '../world.js';

/** A player's session. */
export interface PlayerSession {
  readonly providerId: ProviderId;
  readonly operatorId: OperatorId;
  readonly sessionId: string;
  readonly sessionToken: string;
  readonly playerRef: string;
  readonly gameId: string;
}

/** One answer of the service; status 0 if there was none. */
export interface Answer {
  /** When the request was sent and when it was answered, in Unix milliseconds. */
  readonly sent: number;
  readonly answered: number;
  readonly instance: number;
  readonly status: number;
  /** X-Error-Code, or why there is no answer. */
  readonly code?: string;
  readonly nextAction?: string;
  readonly replayed?: boolean;
  /** The tool's own lag in this time, in milliseconds, unless there was none. */
  readonly lagMs?: number;
  /** The bytes of the body; present only for a 200. */
  readonly body?: string;
}

/** A transaction that a provider wants to book, and all answers to it. */
export interface Intent {
  readonly session: PlayerSession;
  readonly request: TransactionRequest;
  readonly answers: Answer[];
}

export interface FaultRecord {
  readonly fault: Fault;
  readonly from: number;
  readonly to: number;
}

/** Characters that are written to the file at once. */
const BLOCK = 65_536;

/** All intents, their answers and all faults, in memory and in history.jsonl. */
export class History {
  readonly intents = new Map<string, Intent>();
  readonly faults: FaultRecord[] = [];
  private readonly file: WriteStream;
  private unwritten = '';

  constructor(path: string) {
    this.file = createWriteStream(path);
  }

  intent(session: PlayerSession, request: TransactionRequest): Intent {
    const intent = { session, request, answers: [] };
    this.intents.set(intentKey(session.providerId, request.transactionId), intent);
    this.write({ at: Date.now(), intent: request.transactionId, of: session.providerId, request });
    return intent;
  }

  answer(intent: Intent, answer: Answer): void {
    intent.answers.push(answer);
    this.write({
      at: answer.answered,
      answer: intent.request.transactionId,
      of: intent.session.providerId,
      ...answer,
    });
  }

  fault(fault: Fault, from: number, to: number): void {
    this.faults.push({ fault, from, to });
    this.write({ at: from, fault, to });
  }

  note(text: string): void {
    this.write({ at: Date.now(), note: text });
  }

  async close(): Promise<void> {
    this.file.end(this.unwritten);
    await finished(this.file);
  }

  private write(line: object): void {
    this.unwritten += `${JSON.stringify(line)}\n`;
    if (this.unwritten.length < BLOCK) return;
    this.file.write(this.unwritten);
    this.unwritten = '';
  }
}

export function intentKey(providerId: string, transactionId: string): string {
  return `${providerId} ${transactionId}`;
}

/** The last answer to an intent with status 200. */
export function definite(intent: Intent): Answer | undefined {
  return intent.answers.findLast(({ status }) => status === 200);
}
