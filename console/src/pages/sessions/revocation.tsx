import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { ActionButton } from '../../parts/actions/action.tsx';
import type { Outcome } from '../../parts/actions/notice.tsx';
import { SelectField } from '../../parts/forms/form-field.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { durationText } from '../../parts/values/time.tsx';
import { sessions as words } from '../../strings.ts';

interface RevocationProps {
  readonly session: Schema<'SessionItem'>;
  readonly onDone: () => void;
}

type Reason = Schema<'RevokeRequest'>['reason'];
const REASONS: readonly Reason[] = ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'];

/** Ends a session; the provider is notified to stop the game. */
export function RevokeButton({ session, onDone }: RevocationProps) {
  const { sessionId, playerRef, operatorId, providerId, status } = session;
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
      sentence={
        <>
          {words.revokes(playerRef, operatorId)} <LateSettlement providerId={providerId} />
        </>
      }
      fields={<Reasons />}
      impossible={status === 'REVOKED' ? words.alreadyRevoked : undefined}
      run={run}
      onDone={onDone}
    />
  );
}

/** Says what becomes of the session's open rounds, which depends on a setting of the provider. */
function LateSettlement({ providerId }: { readonly providerId: string }) {
  const provider = useResource(providerId, (signal) =>
    answer(api.GET('/v1/admin/providers/{id}', { params: { path: { id: providerId } }, signal })),
  );
  if (!provider.data.value) return <>{words.lateSettlementUnread(providerId)}</>;
  const { lateSettlementSeconds: seconds } = provider.data.value;
  return <>{words.lateSettlement(providerId, seconds === 0 ? undefined : durationText(seconds))}</>;
}

function Reasons() {
  return (
    <SelectField label={words.revokeReason} name="revokeReason">
      {REASONS.map((reason) => (
        <option key={reason} value={reason}>
          {words.reasonOf[reason]}
        </option>
      ))}
    </SelectField>
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
  if (error === 'pending') return { message: words.notificationPending };
  const message = delivered ? words.delivered : words.notDelivered(error ?? String(status ?? ''));
  return { message, failed: !delivered };
}
