import type { FaultRecord } from '../load/history.js';
import type { Fault } from '../plan.js';

/** How long a fault has effects after its end, in milliseconds: a pool's wait for a connection. */
const AFTER_MS = 5000;

/** Whether a fault was under way in a period, in Unix milliseconds, or had ended shortly before. */
export function wasUnderWay({ from, to }: FaultRecord, since: number, until: number): boolean {
  return from <= until && to + AFTER_MS >= since;
}

/**
 * Whether a fault stops an instance, or keeps it from the database or Redis. An instance that is suspended or cut off may
 * hold a lock for which the others wait.
 */
export function disturbs(fault: Fault, instance: number): boolean {
  switch (fault.kind) {
    case 'kill':
    case 'kill-before-call':
      return fault.instances.includes(instance);
    case 'suspend':
    case 'rolling-restart':
    case 'database-restart':
    case 'database-crash':
    case 'database-kill':
    case 'database-settings':
    case 'fail-over':
    case 'redis-kill':
    case 'redis-restart':
    case 'redis-stall':
      return true;
    case 'cut':
    case 'hold-up':
      return fault.link === 'database' || fault.link === 'redis';
    case 'name-moves':
    case 'name-misleads':
    case 'name-lost':
      return fault.name === 'database';
    case 'readers-leave':
    case 'reader-stalls':
      return false;
  }
}
