import { randomUUID } from 'node:crypto';
import { grantOrder } from '../world/grant-order.js';
import { OPERATOR, type World } from '../world/world.js';

export function batchOrder(players: number, fields: Record<string, unknown> = {}) {
  const { playerRef, requestRef, ...spins } = grantOrder();
  const playerRefs = Array.from({ length: players }, (_, index) => `${playerRef}-${index}`);
  return { ...spins, playerRefs, batchRef: `batch-of-${requestRef}`, ...fields };
}

export function adjustmentOrder(fields: Record<string, unknown> = {}) {
  const adjustmentId = `adjustment-${randomUUID()}`;
  const order = { adjustmentId, operatorId: OPERATOR, playerRef: 'ann', currency: 'EUR', reason: 'ticket 1' };
  return { ...order, amountMinor: 100, ...fields };
}

export const GRANTS = '/v1/admin/free-spins';
export const BATCHES = '/v1/admin/free-spins/batches';
export const ADJUSTMENTS = '/v1/admin/adjustments';
export const APPROVALS = '/v1/admin/approvals';

/** Sets the limits of the operator; an empty body removes them. A second person approves what needs it. */
export async function limit(
  world: World,
  limits: object,
  currency = 'EUR',
  operator = OPERATOR,
): Promise<void> {
  const path = `/v1/admin/limits/${operator}/${currency}`;
  const asker = await world.administrator('admin');
  const method = Object.keys(limits).length === 0 ? 'DELETE' : 'PUT';
  const { status, text, json } = await asker.call(method, path, method === 'PUT' ? limits : undefined);
  if (status !== 202) {
    if (status !== 200 && status !== 204) throw new Error(`limits were answered ${status} ${text}`);
    return;
  }
  const approver = await world.administrator('admin');
  const approved = await approver.call('POST', `${APPROVALS}/${String(json['approvalId'])}/approve`);
  if (approved.status !== 200) throw new Error(`the approval was answered ${approved.status}`);
}
