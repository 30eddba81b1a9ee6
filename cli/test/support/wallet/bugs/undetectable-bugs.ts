import type { ServerFault } from '../../broken-server.js';
import { type Booking, type Change, correct } from '../reference-wallet.js';

/** A mistake that no call from outside can find, and why. */
export interface UndetectableBug {
  bug: string;
  why: string;
  change?: () => Change;
  fault?: ServerFault;
}

const DAY_MS = 24 * 60 * 60 * 1000;

export const UNDETECTABLE_BUGS: UndetectableBug[] = [
  {
    bug: 'forgets transactions after a day',
    why: 'a certification would have to take longer than that',
    change: () => {
      const bookedAt = new WeakMap<Booking, number>();
      return {
        remember(booking) {
          bookedAt.set(booking, Date.now());
          correct.remember.call(this, booking);
        },
        async find(order, request) {
          const known = await correct.find.call(this, order, request);
          return known && Date.now() - (bookedAt.get(known) ?? 0) < DAY_MS ? known : undefined;
        },
      };
    },
  },
  {
    bug: 'forgets its bookings when it is restarted',
    why: 'without --restart-command the wallet is not restarted',
    change: () => ({
      restart() {
        this.bookings.clear();
      },
    }),
  },
  {
    bug: 'forgets nonces after a minute',
    why: 'a certification would have to take longer than that',
    fault: 'remembers a nonce for a minute',
  },
];
