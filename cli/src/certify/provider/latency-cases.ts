import { expectInTime, LatencyMeter } from '../latency.js';
import { expectOk } from '../target.js';
import { externalRefIn, grantBody, referenceTo, revocationBody, statusOf } from './expectations.js';
import type { ProviderCase } from './provider-case.js';
import { RULES } from './rules.js';

/** Number of concurrent calls. A grant of a batch is sent while others are under way. */
const CONCURRENCY = 4;
const CALLS_OF_A_ROUND = 4;

export const LATENCY_CASES: ProviderCase[] = [
  {
    id: 'latency',
    title: 'answers 99 of 100 callbacks within half of their time-out',
    rule: RULES.timeout,
    run: async (caller, measured) => {
      const meter = new LatencyMeter(caller.calls.nowMs);
      let rounds = Math.ceil(caller.provider.latencyCalls / CALLS_OF_A_ROUND);
      const worker = async () => {
        while (rounds > 0) {
          rounds -= 1;
          const body = grantBody(caller);
          const grant = await meter.measure('grant', () => caller.call('grant', body));
          const batch = { ...body, externalRef: externalRefIn(grant) };
          await meter.measure('status', () => statusOf(caller, batch));
          expectOk(await meter.measure('cancel', () => caller.call('cancel', referenceTo(batch))));
          expectOk(await meter.measure('revoke', () => caller.call('revoke', revocationBody(caller))));
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, worker));
      expectInTime(meter, caller.provider.timeoutMs, measured);
    },
  },
];
