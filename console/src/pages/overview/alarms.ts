import type { Schema } from '../../api/schemas.ts';
import { addressOf } from '../../parts/links/addresses.ts';
import { durationText } from '../../parts/values/time.tsx';
import { overview as words } from '../../strings.ts';

type Tenant = Schema<'OverviewTenant'>;

/** Something that is wrong now, and where. */
export interface Alarm {
  readonly sentence: string;
  /** The sentence without figures that change with each overview: it is read aloud when it changes. */
  readonly spoken: string;
  readonly href?: string;
}

/** Age from which an undecided transaction is no longer one that is just being retried, in seconds. */
const OLD_SECONDS = 60;

/** What is wrong, the worst first; empty if nothing is. */
export function alarmsOf(data: Schema<'OverviewResponse'>): Alarm[] {
  const tenants = (['operator', 'provider'] as const).flatMap((kind) =>
    data[`${kind}s`].map((tenant) => ({ tenant, kind: words[kind], href: addressOf[kind](tenant.id) })),
  );
  const ofState = (state: Tenant['state']) =>
    tenants
      .filter(({ tenant }) => tenant.state === state)
      .map(({ tenant, kind, href }) => {
        const sentence = words.alarmOf[state](kind, tenant);
        const spoken = state === 'degraded' ? words.degradedSpoken(kind, tenant.name) : sentence;
        return { sentence, spoken, href };
      });
  const old = tenants.flatMap(({ tenant, kind, href }) => {
    const { name, undecided, oldestUndecidedSeconds: seconds } = tenant;
    if (seconds === null || seconds < OLD_SECONDS) return [];
    const sentence = words.oldAlarm(kind, name, undecided, durationText(seconds));
    return [{ sentence, spoken: words.oldSpoken(kind, name), href }];
  });
  const parked = {
    sentence: words.parkedAlarm(data.parked),
    spoken: words.parkedAlarm(data.parked),
    href: addressOf.list('transactions', { parked: 'true' }),
  };
  return [
    ...ofState('open'),
    ...data.instances
      .filter(({ ready }) => !ready)
      .map(({ id }) => ({ sentence: words.instanceAlarm(id), spoken: words.instanceAlarm(id) })),
    ...ofState('degraded'),
    ...(data.parked > 0 ? [parked] : []),
    ...old,
    ...ofState('paused'),
  ];
}

const SEVERITY = { open: 0, degraded: 1, paused: 2, ok: 3 } as const satisfies Record<
  Tenant['state'],
  number
>;

/** Those that need a look first, and then by the number of their undecided transactions; else in the API's order. */
export function worstFirst(tenants: readonly Tenant[]): Tenant[] {
  return tenants.toSorted((a, b) => SEVERITY[a.state] - SEVERITY[b.state] || b.undecided - a.undecided);
}
