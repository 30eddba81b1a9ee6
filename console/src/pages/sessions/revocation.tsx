import { useId } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { ActionButton } from '../../parts/action.tsx';
import type { Outcome } from '../../parts/notice.tsx';
import { sessions as words } from '../../strings.ts';

interface RevocationProps {
  readonly session: Schema<'SessionItem'>;
  readonly onDone: () => void;
}

type Reason = Schema<'RevokeRequest'>['reason'];
const REASONS: readonly Reason[] = ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'];

/** Ends a session; the provider is notified to stop the game. */
export function RevokeButton({ session, onDone }: RevocationProps) {
  const { sessionId, playerRef, operatorId, status } = session;
  const run = async (form: FormData) => {
    const body = { reason: form.get('revokeReason') as Reason };
    const params = { path: { sessionId } };
    const { notification } = await answer(
      api.POST('/v1/admin/sessions/{sessionId}/revoke', { params, body }),
    );
    return outcomeOf(notification);
  };
  return (
    <ActionButton
      label={words.revoke}
      role="support"
      danger
      sentence={words.revokes(playerRef, operatorId)}
      fields={<Reasons />}
      impossible={status === 'REVOKED' ? words.alreadyRevoked : undefined}
      run={run}
      onDone={onDone}
    />
  );
}

function Reasons() {
  const id = useId();
  return (
    <div class="mb-3">
      <label for={id} class="form-label">
        {words.revokeReason}
      </label>
      <select id={id} name="revokeReason" class="form-select form-select-sm">
        {REASONS.map((reason) => (
          <option key={reason} value={reason}>
            {words.reasonOf[reason]}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Sends the revocation to the provider once more; the service refuses that if it was delivered. */
export function NotifyButton({ session, onDone }: RevocationProps) {
  const params = { path: { sessionId: session.sessionId } };
  const run = async () => {
    const { notification } = await answer(api.POST('/v1/admin/sessions/{sessionId}/notify', { params }));
    return outcomeOf(notification);
  };
  return (
    <ActionButton
      label={words.notify}
      role="support"
      sentence={words.notifies(session.providerId)}
      run={run}
      onDone={onDone}
    />
  );
}

function outcomeOf({ delivered, error, status }: Schema<'RevocationNotification'>): Outcome {
  const message = delivered ? words.delivered : words.notDelivered(error ?? String(status ?? ''));
  return { message, failed: !delivered };
}
