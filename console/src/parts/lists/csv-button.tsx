import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { csv } from '../../api/client.ts';
import type { Problem } from '../../api/problem.ts';
import { table as words } from '../../strings.ts';
import { usePage } from '../links/page.ts';
import { ProblemAlert, problemOf } from '../reading/problem.tsx';

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

/** Downloads the whole list that the filters select, not only the page that is shown. During the download, it cancels. */
export function CsvButton({ path, name = nameOf(path), rows, filter }: CsvButtonProps) {
  const { query } = usePage();
  /** The bytes that have arrived; undefined if no download is under way. */
  const received = useSignal<number | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const { cursor: _cursor, limit: _limit, ...ofAddress } = query;
  const download = async () => {
    const { signal } = (running.current = new AbortController());
    received.value = 0;
    problem.value = undefined;
    try {
      save(await csv(path, filter ?? ofAddress, signal, (bytes) => (received.value = bytes)), `${name}.csv`);
    } catch (error) {
      if (!signal.aborted) problem.value = problemOf(error);
    } finally {
      received.value = undefined;
    }
  };
  const click = ({ detail }: MouseEvent) => {
    // The second click of a double click is not meant to cancel.
    if (detail > 1) return;
    if (received.value === undefined) void download();
    else running.current?.abort();
  };
  return (
    <>
      <button type="button" class="btn btn-sm btn-outline-secondary" title={words.csvHint} onClick={click}>
        {received.value !== undefined
          ? words.csvCancel(received.value)
          : rows === undefined
            ? words.csv
            : words.csvOf(rows)}
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
