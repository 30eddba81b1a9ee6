import type { Schema } from '../../api/schemas.ts';
import { pausing as words } from '../../strings.ts';
import { Left } from '../values/time.tsx';
import type { Column } from './data-table.tsx';

/** The column of the pause of each tenant or game. */
export const PAUSE_COLUMN: Column<{ readonly pause?: Schema<'PauseResponse'> }> = {
  title: words.column,
  cell: ({ pause }) =>
    pause && (
      <>
        <span class="badge text-bg-warning">{words.now}</span> <span class="reason">{pause.reason}</span>{' '}
        {pause.until !== undefined && <Left until={pause.until} />}
      </>
    ),
};
