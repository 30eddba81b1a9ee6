import { table as words } from '../../strings.ts';

/** Reads a page's resources again. A reload of the whole page would forget the key. */
export function RefreshButton({ reload }: { readonly reload: () => void }) {
  return (
    <button type="button" class="btn btn-sm btn-outline-secondary" onClick={reload}>
      {words.refresh}
    </button>
  );
}
