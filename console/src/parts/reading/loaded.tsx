import type { ComponentChildren } from 'preact';
import { shell } from '../../strings.ts';
import { ProblemAlert } from './problem.tsx';
import type { Resource } from './resource.ts';

interface LoadedProps<T> {
  readonly of: Resource<T>;
  /** Shown instead of the problem if there is no such record. */
  readonly gone?: string;
  readonly children: (data: T) => ComponentChildren;
}

/** What a page shows of a resource: its data, or that it loads, and the problem of the last read. */
export function Loaded<T>({ of, gone, children }: LoadedProps<T>) {
  const { data, problem, loading, retries, reload } = of;
  if (gone !== undefined && data.value === undefined && problem.value?.status === 404) return <p>{gone}</p>;
  return (
    <>
      {problem.value && <ProblemAlert problem={problem.value} retry={reload} retries={retries.value} />}
      {data.value === undefined && loading.value && !problem.value && (
        <p role="status" class="text-body-secondary">
          {shell.loading}
        </p>
      )}
      {data.value !== undefined && children(data.value)}
    </>
  );
}
