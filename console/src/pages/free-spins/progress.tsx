import type { Schema } from '../../api/schemas.ts';
import { freeSpins as words } from '../../strings.ts';

type Counts = Pick<Schema<'BatchItem'>, 'total' | 'granted' | 'failed' | 'pending' | 'cancelled'>;

const PARTS = [
  ['granted', 'bg-success'],
  ['failed', 'bg-danger'],
  ['cancelled', 'bg-secondary'],
] as const;

/** How far a batch is: the grants that are no longer pending. */
export function Progress({ counts }: { readonly counts: Counts }) {
  const { total, pending } = counts;
  return (
    <div>
      <div
        class="progress-stacked"
        role="progressbar"
        aria-label={words.progress}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={total - pending}
        aria-valuetext={words.countsOf(counts)}
      >
        {PARTS.map(([name, colour]) => (
          // The Content-Security-Policy allows widths that a script sets, but no style attribute.
          <div key={name} class="progress" style={{ width: `${(100 * counts[name]) / total}%` }}>
            <div class={`progress-bar ${colour}`} />
          </div>
        ))}
      </div>
      <p class="mb-2">{words.countsOf(counts)}</p>
    </div>
  );
}
