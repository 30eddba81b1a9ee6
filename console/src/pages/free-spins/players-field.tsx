import { type ReadonlySignal, type Signal, useComputed, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { InputField, Labelled } from '../../parts/forms/form-field.tsx';
import { freeSpins as words } from '../../strings.ts';
import {
  judge,
  type Line,
  linesOf,
  linesOfCsv,
  MOST_BYTES,
  MOST_PLAYERS,
  type WrongLine,
} from './players.ts';

/** Most wrong lines that are shown; the others are counted. */
const SHOWN = 20;

export interface Players {
  readonly text: Signal<string>;
  /** The lines of the chosen file; undefined if there is none. */
  readonly file: Signal<readonly Line[] | undefined>;
  readonly fileProblem: Signal<string | undefined>;
  readonly leaveOut: Signal<boolean>;
  readonly players: ReadonlySignal<string[]>;
  readonly wrong: ReadonlySignal<readonly WrongLine[]>;
  /** Why the players cannot be sent; undefined if they can. */
  readonly obstacle: ReadonlySignal<string | undefined>;
}

export function usePlayers(): Players {
  const text = useSignal('');
  const file = useSignal<readonly Line[] | undefined>(undefined);
  const fileProblem = useSignal<string | undefined>(undefined);
  const leaveOut = useSignal(false);
  const judged = useComputed(() => judge(file.value ?? linesOf(text.value)));
  const players = useComputed(() => judged.value.players);
  const wrong = useComputed(() => judged.value.wrong);
  const obstacle = useComputed(() => {
    if (fileProblem.value !== undefined) return fileProblem.value;
    if (wrong.value.length > 0 && !leaveOut.value) return words.wrongLines(wrong.value.length);
    const count = players.value.length;
    return count > MOST_PLAYERS ? words.tooMany(count, MOST_PLAYERS) : undefined;
  });
  return { text, file, fileProblem, leaveOut, players, wrong, obstacle };
}

export function PlayersField({ of }: { readonly of: Players }) {
  const { text, file, fileProblem, leaveOut, players, wrong } = of;
  /** The file whose lines are wanted: an earlier one may still be read. */
  const latest = useRef<File | undefined>(undefined);
  const choose = async (chosen: File | undefined) => {
    latest.current = chosen;
    file.value = undefined;
    fileProblem.value = undefined;
    leaveOut.value = false;
    if (!chosen) return;
    if (chosen.size > MOST_BYTES) {
      fileProblem.value = words.tooLarge(MOST_BYTES);
      return;
    }
    try {
      const lines = await linesOfCsv(await chosen.text());
      if (latest.current === chosen) file.value = lines;
    } catch (error) {
      if (latest.current === chosen) fileProblem.value = (error as Error).message;
    }
  };
  return (
    <div class="mb-2">
      <Labelled label={words.players}>
        {(control) => (
          <textarea
            {...control}
            class="form-control form-control-sm id"
            rows={6}
            spellcheck={false}
            value={text.value}
            disabled={file.value !== undefined}
            onInput={(event) => {
              text.value = event.currentTarget.value;
              leaveOut.value = false;
            }}
          />
        )}
      </Labelled>
      <InputField
        label={words.file}
        type="file"
        accept=".csv,.txt,text/csv,text/plain"
        onChange={(event) => void choose(event.currentTarget.files?.[0])}
      />
      <p role="status" class="form-text mb-1">
        {words.playersOf(players.value.length)}
      </p>
      {wrong.value.length > 0 && (
        <div class="alert alert-warning py-2">
          <ul class="mb-1">
            {wrong.value.slice(0, SHOWN).map(({ number, text: line, fault }) => (
              <li key={number}>
                {words.wrongLine(number)} <span class="id">{line.slice(0, 140)}</span>: {words.fault(fault)}
              </li>
            ))}
          </ul>
          {wrong.value.length > SHOWN && <p class="mb-1">{words.moreWrong(wrong.value.length - SHOWN)}</p>}
          <label class="form-check mb-0">
            <input
              type="checkbox"
              class="form-check-input"
              checked={leaveOut.value}
              onChange={(event) => (leaveOut.value = event.currentTarget.checked)}
            />
            <span class="form-check-label">{words.leaveOut}</span>
          </label>
        </div>
      )}
    </div>
  );
}
