import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { WinningsService } from '../free-spins/winnings/winnings.service.js';
import { Metrics } from '../observability/metrics.js';
import { Background } from '../runtime/background.js';
import type { BackgroundLoop } from '../runtime/background-loop.js';
import { failureText } from '../runtime/failure-text.js';
import { Parking } from '../wallet/resolving/parking.js';
import { type AttentionKind, batchOf, type Cause, partsOf, subjectOf } from './attention.js';
import { AttentionStore } from './attention.store.js';
import { CauseStore } from './cause.store.js';
import { flaggedWinnings, type Search } from './causes.js';
import { OpenRoundsWatch } from './open-rounds.watch.js';

/** Polling interval, in milliseconds. An item appears within ten seconds of its cause, except for open rounds. */
const POLL_MS = 4_000;
/** Delay before the first pass, in milliseconds. */
const FIRST_POLL_MS = 1_000;
/**
 * Minimum time between the starts of two full passes of one instance, in seconds. A pass that begins earlier only
 * searches for parked transactions. The time is shorter than the polling interval, so that the instance makes a full
 * pass at each poll.
 */
const PASS_SECONDS = 3;
/**
 * Minimum time between the start of an instance's full pass and that of another instance, in seconds. It is longer than
 * the polling interval, so that one instance makes all passes: it remembers where the next one continues. Together with
 * the polling interval it is shorter than ten seconds, within which items appear even if that instance dies.
 */
const TAKE_OVER_SECONDS = 5;
/** Maximum number of rows that one query reads. These rows are called a window. */
const WINDOW = 500;
/**
 * Maximum number of windows that a search reads, beginning with the newest row. The maximum assumes that fewer than
 * 10,000 rows (20 windows of 500) become causes between two passes. A search stops earlier if the next window cannot
 * contain a new cause.
 */
const NEWEST_WINDOWS = 20;
/**
 * Number of windows of older rows that a search then reads. The next pass continues where the search stopped. After the
 * oldest row, the search starts over, so that every row is read from time to time.
 */
const OLDER_WINDOWS = 3;
/** Polling interval for the two infrequent searches, in milliseconds. Each decides whether it is due. */
const RARE_POLL_MS = 60_000;
/**
 * Minimum time between two searches for flagged winnings, over all instances, in seconds. It is shorter than
 * `RARE_POLL_MS`, so that a single instance searches at each poll.
 */
const FLAGGED_SECONDS = 50;
/** How long a stop waits for a pass, in milliseconds. */
const STOP_MS = 2_000;

/** The searches of a full pass only. Every pass searches for parked transactions, whose items must appear at once. */
const SEARCHED = [
  'undecided',
  'grants',
  'expiries',
  'cancels',
  'duplicates',
  'revocations',
  'approvals',
] as const satisfies Search[];
/** The kinds of items that a pass closes. The code that finds open rounds and findings also closes their items. */
const ENDING = [
  'transaction',
  'grant',
  'revocation',
  'approval',
  'winnings',
] as const satisfies AttentionKind[];

/**
 * Opens an item for each cause, and closes items whose cause is gone. Contract, section 9, "Attention". Any number of
 * instances may run it: a cause has one item at most.
 */
@Injectable()
export class AttentionWatcher implements OnModuleInit {
  private readonly logger = new Logger('Attention');
  private readonly loop: BackgroundLoop;
  /**
   * Where the next pass continues. For each unfinished search, `places` has the place of the last row that was read.
   * For each unfinished check, `checked` has the subject of the last item that was checked.
   */
  private readonly places = new Map<Search, readonly string[]>();
  private readonly checked = new Map<AttentionKind, string>();
  /** The latest full pass that this instance claimed. */
  private claim: string | undefined;

  constructor(
    private readonly items: AttentionStore,
    private readonly causes: CauseStore,
    private readonly openRounds: OpenRoundsWatch,
    private readonly winnings: WinningsService,
    private readonly parking: Parking,
    private readonly metrics: Metrics,
    background: Background,
  ) {
    this.loop = background.add({
      name: 'open and close items of the attention queue',
      intervalMs: POLL_MS,
      firstAfterMs: FIRST_POLL_MS,
      stopMs: STOP_MS,
      work: () => this.pass(),
      onError: (detail) => this.logger.error({ msg: 'search for causes failed', detail }),
    });
    const roundsLoop = background.add({
      name: 'count open rounds',
      intervalMs: RARE_POLL_MS,
      firstAfterMs: FIRST_POLL_MS,
      stopMs: STOP_MS,
      work: () => this.openRounds.run(() => roundsLoop.stopping),
      onError: (detail) => this.logger.error({ msg: 'count of open rounds failed', detail }),
    });
    background.add({
      name: 'find flagged winnings without an item',
      intervalMs: RARE_POLL_MS,
      firstAfterMs: FIRST_POLL_MS,
      stopMs: STOP_MS,
      work: () => this.openMissingWinnings(),
      onError: (detail) => this.logger.error({ msg: 'search for flagged winnings failed', detail }),
    });
  }

  onModuleInit(): void {
    this.parking.onParked(() => void this.loop.run());
    this.winnings.onFlagged((win) => {
      this.items.open([flaggedWinnings(win)]).catch((error: unknown) => {
        const detail = failureText(error);
        this.logger.warn({
          msg: 'the item of a flagged WIN could not be opened: the next search for flagged winnings opens it',
          detail,
        });
      });
    });
    this.metrics.addGauge({
      name: 'croupier_attention_items',
      help: 'Items of the attention queue that are open or snoozed; all instances report the same value',
      labelNames: ['kind', 'state'],
      read: async () =>
        (await this.items.count()).map(({ kind, state, value }) => ({ labels: { kind, state }, value })),
    });
  }

  /**
   * Runs a pass now. If a full pass began less than `PASS_SECONDS` ago, or `TAKE_OVER_SECONDS` at another instance, this
   * pass searches for parked transactions only. Never rejects.
   */
  tick(): Promise<void> {
    return this.loop.run();
  }

  private async pass(): Promise<void> {
    await this.search('parked');
    const own = { claim: this.claim, seconds: PASS_SECONDS };
    const claim = await this.items.claimScan('causes', TAKE_OVER_SECONDS, own);
    if (!claim) return;
    this.claim = claim;
    await this.items.wake();
    for (const search of SEARCHED) await this.search(search);
    for (const kind of ENDING) await this.endGone(kind);
  }

  /** Opens items for the newest causes, and then for some of the older ones, which may lack an item after a crash. */
  private async search(name: Search): Promise<void> {
    let place = await this.searchNewest(name);
    if (place) place = this.places.get(name) ?? place;
    for (let window = 0; place && window < OLDER_WINDOWS && !this.loop.stopping; window += 1) {
      place = (await this.searchWindow(name, place)).end;
    }
    if (place) this.places.set(name, place);
    else this.places.delete(name);
  }

  /**
   * Opens items for the newest causes. Stops after a window whose causes all have items and are older than 30 seconds.
   * Passes begin less than 30 seconds apart, so an earlier pass has opened the items of all older causes.
   * @returns the place of the last row that was read; undefined if no rows are left
   */
  private async searchNewest(name: Search): Promise<readonly string[] | undefined> {
    let found = await this.searchWindow(name, undefined);
    for (let window = 1; found.end && found.mayBeNew && window < NEWEST_WINDOWS; window += 1) {
      if (this.loop.stopping) break;
      found = await this.searchWindow(name, found.end);
    }
    return found.end;
  }

  /**
   * Opens items for the causes in one window.
   * @returns `end`: the place of the last row, undefined if no rows are left; `mayBeNew`: whether the next window may
   *   contain new causes
   */
  private async searchWindow(
    name: Search,
    place: readonly string[] | undefined,
  ): Promise<{ end: readonly string[] | undefined; mayBeNew: boolean }> {
    const rows = await this.causes.window(name, place, WINDOW);
    const causes = rows.flatMap(({ newCause }) => newCause ?? []);
    if (name === 'parked') await this.items.markParked(causes);
    await this.items.end(rows.flatMap(({ earlierItem }) => earlierItem ?? []));
    await this.items.open(await this.counted(causes));
    return {
      end: rows.length === WINDOW ? rows.at(-1)?.place : undefined,
      mayBeNew: causes.length > 0 || rows.some(({ recent }) => recent),
    };
  }

  /** Replaces the causes of grants of one batch by one cause with their number. */
  private async counted(causes: readonly Cause[]): Promise<readonly Cause[]> {
    const ofBatch = causes.filter(({ kind, subject }) => kind === 'grant' && batchOf(subject));
    if (ofBatch.length === 0) return causes;
    const batches = await this.causes.ofBatches([...new Set(ofBatch.map(({ subject }) => subject))]);
    const subjects = new Set(batches.map(({ subject }) => subject));
    return [...causes.filter(({ subject }) => !subjects.has(subject)), ...batches];
  }

  /**
   * Closes items of a kind whose cause is gone, and counts the grants of batches again. Each pass checks one window of
   * items.
   */
  private async endGone(kind: (typeof ENDING)[number]): Promise<void> {
    const present = await this.items.present(kind, this.checked.get(kind), WINDOW);
    const subjects = present.map(({ subject }) => subject);
    const still =
      kind === 'winnings' ? await this.flagged(subjects) : await this.causes.still(kind, subjects);
    await this.items.end(present.filter(({ subject }) => !still.has(subject)).map(({ id }) => id));
    if (kind === 'grant')
      for (const cause of await this.causes.ofBatches([...still])) await this.items.countAgain(cause);
    const last = present.length === WINDOW ? present.at(-1) : undefined;
    if (last) this.checked.set(kind, last.subject);
    else this.checked.delete(kind);
  }

  private async flagged(subjects: readonly string[]): Promise<Set<string>> {
    const keys = subjects.map(partsOf).map(({ providerId, id }) => ({ providerId, transactionId: id }));
    const flagged = keys.length === 0 ? [] : await this.winnings.stillFlagged(keys);
    return new Set(flagged.map(({ providerId, transactionId }) => subjectOf(providerId, transactionId)));
  }

  /**
   * Opens missing items of flagged WINs. An item is missing if the instance that flagged the WIN then died or could not
   * reach the database.
   */
  async openMissingWinnings(): Promise<void> {
    if (!(await this.items.claimScan('winnings', FLAGGED_SECONDS))) return;
    const flagged = await this.winnings.flaggedLately();
    await this.items.open(flagged.map(flaggedWinnings));
  }
}
