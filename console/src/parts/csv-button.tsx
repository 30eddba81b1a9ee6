import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { csv } from '../api/client.ts';
import type { Problem } from '../api/problem.ts';
import { table as words } from '../strings.ts';
import { usePage } from './page.ts';
import { ProblemAlert, problemOf } from './problem.tsx';

interface CsvButtonProps {
  /** The list's route, such as `/v1/admin/transactions`. */
  readonly path: string;
  /** Name of the file, without its ending; by default that of the route. */
  readonly name?: string;
  /** The number of rows, if the API gives it. */
  readonly rows?: number | undefined;
  /** The filters; by default those of the address. */
  readonly filter?: Readonly<Record<string, string>>;
}

/** Downloads the whole list that the filters select, not only the page that is shown. */
export function CsvButton({ path, name = nameOf(path), rows, filter }: CsvButtonProps) {
  const { query } = usePage();
  const busy = useSignal(false);
  const problem = useSignal<Problem | undefined>(undefined);
  const ending = useRef(new AbortController());
  useEffect(() => () => ending.current.abort(), []);
  const { cursor: _cursor, limit: _limit, ...ofAddress } = query;
  const download = async () => {
    busy.value = true;
    problem.value = undefined;
    try {
      save(await csv(path, filter ?? ofAddress, ending.current.signal), `${name}.csv`);
    } catch (error) {
      if (!ending.current.signal.aborted) problem.value = problemOf(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <>
      <button
        type="button"
        class="btn btn-sm btn-outline-secondary"
        title={words.csvHint}
        disabled={busy.value}
        onClick={() => void download()}
      >
        {busy.value ? words.csvBusy : rows === undefined ? words.csv : words.csvOf(rows)}
      </button>
      {problem.value && <ProblemAlert problem={problem.value} />}
    </>
  );
}

const nameOf = (path: string) => path.replace('/v1/admin/', '').replaceAll('/', '-');

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
