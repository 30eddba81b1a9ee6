import { signal } from '@preact/signals';
import { me } from '../api/session.ts';
import { action as words } from '../strings.ts';
import { addressOf } from './addresses.ts';
import { focusContent } from './page.ts';

/** What an action led to. */
export interface Outcome {
  /** A sentence; by default that it is done, or that it waits for approval. */
  readonly message?: string;
  /** The approval that it waits for, if the answer was a 202 with one. */
  readonly approvalId?: string | undefined;
}

/** The page on which an action was started, which the person has left before it ended. */
export interface Origin {
  readonly title: string;
  readonly address: string;
}

interface Shown {
  readonly sentence: string;
  readonly approvalId?: string | undefined;
  readonly origin?: Origin | undefined;
  readonly failed?: boolean;
}

const notice = signal<Shown | undefined>(undefined);
// The next person in this tab must not read what the session before did.
me.subscribe(dismissNotice);

/**
 * Shows the outcome above the page, until it is dismissed or another page is opened.
 * @param origin the page that the outcome is about, if it is no longer the one that is shown
 */
export function announce(label: string, { message, approvalId }: Outcome = {}, origin?: Origin): void {
  const sentence = approvalId === undefined ? words.done(label) : words.waitsForApproval(label);
  notice.value = { sentence: message ?? sentence, approvalId, origin };
}

/** Shows that an action has failed whose page is no longer shown. */
export function announceFailure(label: string, message: string, origin: Origin): void {
  notice.value = { sentence: words.notDone(label, message), origin, failed: true };
}

export function dismissNotice(): void {
  notice.value = undefined;
}

export function Notice() {
  const shown = notice.value;
  return (
    <div role="status" class="notice-place">
      {shown && (
        <div class={`alert ${shown.failed ? 'alert-danger' : 'alert-success'} notice`}>
          <span>
            {shown.sentence}{' '}
            {shown.origin && (
              <>
                (<a href={shown.origin.address}>{shown.origin.title}</a>){' '}
              </>
            )}
            {shown.approvalId !== undefined && (
              <a href={addressOf.approval(shown.approvalId)}>{words.openApproval}</a>
            )}
          </span>
          <button
            type="button"
            class={`btn btn-sm ${shown.failed ? 'btn-outline-danger' : 'btn-outline-success'}`}
            onClick={() => {
              dismissNotice();
              focusContent();
            }}
          >
            {words.dismiss}
          </button>
        </div>
      )}
    </div>
  );
}
