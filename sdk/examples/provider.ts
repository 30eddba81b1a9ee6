import { type CallbackHandler, createCallbackHandler } from '@croupier/provider-sdk';
import { FreeSpins } from './free-spins.js';

export interface Settings {
  tenantId: string;
  secret: string;
  /** 0 selects any free port. */
  port: number;
}

/** A running provider. */
export interface Running {
  /** The webhook base address to register with the platform. */
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
    // For npx @croupier/cli certify: leave it out in production.
    onPlay: (batch) => freeSpins.onPlay(batch),
    onRefused: (reason, request) => console.warn(`refused ${request.path}: ${reason}`),
  });
}
