import { signal } from '@preact/signals';
import { me } from '../../api/session.ts';
import { action as words } from '../../strings.ts';
import { addressOf } from '../links/addresses.ts';
import { focusContent } from '../links/page.ts';

/** What an action led to. */
export interface Outcome {
  /** A sentence; by default that it is done, or that it waits for approval. */
  readonly message?: string;
  /** The approval that it waits for, if the answer was a 202 with one. */
  readonly approvalId?: string | undefined;
  /** The page of what it made, if that is not the page on which it was started. */
  readonly page?: PageLink;
  /** Whether `message` says that it did not succeed. */
  readonly failed?: boolean;
}

export interface PageLink {
  readonly title: string;
  readonly address: string;
}

interface Shown {
  readonly sentence: string;
  readonly approvalId?: string | undefined;
  readonly page?: PageLink | undefined;
  readonly failed?: boolean;
  /** The page of what the action made, which may be opened next. */
  readonly madeAddress?: string | undefined;
}

const notice = signal<Shown | undefined>(undefined);
// The next person in this tab must not read what the session before did.
me.subscribe(dismissNotice);

/**
 * Shows the outcome above the page, until it is dismissed or another page is opened, except that of what was made.
 * @param origin the page on which the action was started, if the person has left it
 */
export function announce(label: string, outcome: Outcome = {}, origin?: PageLink): void {
  const { message, approvalId, page = origin, failed = false } = outcome;
  const sentence = approvalId === undefined ? words.done(label) : words.waitsForApproval(label);
  notice.value = {
    sentence: message ?? sentence,
    approvalId,
    page: origin && page,
    failed,
    madeAddress: outcome.page?.address,
  };
}

/**
 * Shows that an action has failed whose page or dialog the person has left.
 * @param page the page on which the action was started
 */
export function announceFailure(label: string, message: string, page: PageLink): void {
  notice.value = { sentence: words.notDone(label, message), page, failed: true };
}

function dismissNotice(): void {
  notice.value = undefined;
}

/** Another page was opened: only what the action made, such as a grant, still shows how it ended. */
export function dismissNoticeOf(path: string): void {
  if (notice.peek()?.madeAddress !== path) dismissNotice();
}

export function Notice() {
  const shown = notice.value;
  return (
    <div role="status" class="notice-place">
      {shown && (
        <div class={`alert ${shown.failed ? 'alert-danger' : 'alert-success'} notice`}>
          <span>
            {shown.sentence}{' '}
            {shown.page && (
              <>
                (<a href={shown.page.address}>{shown.page.title}</a>){' '}
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
