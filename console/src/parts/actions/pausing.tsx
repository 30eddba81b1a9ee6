import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { pausing as words } from '../../strings.ts';
import { InputField, instantIn } from '../forms/form-field.tsx';
import { Person } from '../values/person.tsx';
import { Time, TimeAndLeft } from '../values/time.tsx';
import { ActionButton } from './action.tsx';

interface PausingProps {
  readonly kind: 'operator' | 'provider' | 'game';
  readonly id: string;
  readonly pause: Schema<'PauseResponse'> | undefined;
  readonly onDone: () => void;
}

/** The pause of an operator, provider or game, and the button that begins or ends it. */
export function Pausing({ kind, id, pause, onDone }: PausingProps) {
  if (!pause)
    return (
      <div class="mb-3">
        <ActionButton
          label={words.pause(kind)}
          role="operations"
          danger
          sentence={words.willPause(kind, id)}
          reason="required"
          fields={
            <InputField name="until" label={words.until} type="datetime-local" hint={words.untilHint} />
          }
          run={async (form, reason) => {
            await pauseIt(kind, id, { reason, until: instantIn(form, 'until') ?? null });
          }}
          onDone={onDone}
        />
      </div>
    );
  return (
    <div class="pause">
      <p class="mb-1">
        <strong>{words.paused}</strong> {words.since} <Time at={pause.pausedAt} /> {words.by}{' '}
        <Person name={pause.byName} id={pause.by} />,
        {pause.until === undefined ? (
          words.untilResumed
        ) : (
          <>
            {words.endsAt} <TimeAndLeft until={pause.until} />
          </>
        )}
      </p>
      <p>{pause.reason}</p>
      <ActionButton
        label={words.resume(kind)}
        role="operations"
        sentence={words.willResume(kind, id)}
        reason="optional"
        run={async (_form, reason) => {
          await resumeIt(kind, id, { reason: reason || null });
        }}
        onDone={onDone}
      />
    </div>
  );
}

function pauseIt(kind: PausingProps['kind'], id: string, body: Schema<'PauseRequest'>): Promise<unknown> {
  if (kind === 'game')
    return answer(api.POST('/v1/admin/games/{gameId}/pause', { params: { path: { gameId: id } }, body }));
  return answer(api.POST(`/v1/admin/${kind}s/{id}/pause`, { params: { path: { id } }, body }));
}

function resumeIt(kind: PausingProps['kind'], id: string, body: Schema<'ResumeRequest'>): Promise<unknown> {
  if (kind === 'game')
    return answer(api.POST('/v1/admin/games/{gameId}/resume', { params: { path: { gameId: id } }, body }));
  return answer(api.POST(`/v1/admin/${kind}s/{id}/resume`, { params: { path: { id } }, body }));
}
