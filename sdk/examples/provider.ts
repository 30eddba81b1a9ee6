import { type CallbackHandler, createCallbackHandler } from '@croupier/provider-sdk';
import { FreeSpins } from './free-spins.js';

export interface Settings {
  tenantId: string;
  secret: string;
  /** 0: any free one. */
  port: number;
}

/** A provider that listens. */
export interface Running {
  /** What is registered with the platform as the webhook's base address. */
  url: string;
  stop(): Promise<void>;
}

/** The callbacks of a provider whose free spins are kept in memory. */
export function callbacks({ tenantId, secret }: Settings, freeSpins = new FreeSpins()): CallbackHandler {
  return createCallbackHandler({
    tenantId,
    secret,
    onGrant: (grant) => freeSpins.onGrant(grant),
    onStatus: (batch) => freeSpins.onStatus(batch),
    onCancel: (batch) => freeSpins.onCancel(batch),
    onRevoke: (revocation) => freeSpins.onRevoke(revocation),
    // For croupier-provider certify: leave it out in production.
    onPlay: (batch) => freeSpins.onPlay(batch),
    onRefused: (reason, request) => console.warn(`refused ${request.path}: ${reason}`),
  });
}
