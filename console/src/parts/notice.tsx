import { signal } from '@preact/signals';
import { action as words } from '../strings.ts';
import { addressOf } from './addresses.ts';

/** What an action led to. */
export interface Outcome {
  /** A sentence; by default that it is done, or that it waits for approval. */
  readonly message?: string;
  /** The approval that it waits for, if the answer was a 202 with one. */
  readonly approvalId?: string | undefined;
}

const notice = signal<{ readonly sentence: string; readonly approvalId: string | undefined } | undefined>(
  undefined,
);

/** Shows the outcome above the page, until it is dismissed or another page is opened. */
export function announce(label: string, { message, approvalId }: Outcome = {}): void {
  const sentence = approvalId === undefined ? words.done(label) : words.waitsForApproval(label);
  notice.value = { sentence: message ?? sentence, approvalId };
}

export function dismissNotice(): void {
  notice.value = undefined;
}

export function Notice() {
  const shown = notice.value;
  return (
    <div role="status">
      {shown && (
        <div class="alert alert-success notice">
          <span>
            {shown.sentence}{' '}
            {shown.approvalId !== undefined && (
              <a href={addressOf.approval(shown.approvalId)}>{words.openApproval}</a>
            )}
          </span>
          <button type="button" class="btn btn-sm btn-outline-success" onClick={dismissNotice}>
            {words.dismiss}
          </button>
        </div>
      )}
    </div>
  );
}
