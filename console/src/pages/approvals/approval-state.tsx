import type { Schema } from '../../api/schemas.ts';
import { approvals as words } from '../../strings.ts';

const COLOURS: Readonly<Record<Schema<'ApprovalItem'>['state'], string>> = {
  WAITING: 'text-bg-warning',
  APPROVED: 'text-bg-success',
  REJECTED: 'text-bg-secondary',
  EXPIRED: 'text-bg-secondary',
};

export function ApprovalState({ approval: { state } }: { readonly approval: Schema<'ApprovalItem'> }) {
  return <span class={`badge ${COLOURS[state]}`}>{words.stateOf[state]}</span>;
}
