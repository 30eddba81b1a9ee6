import type { Schema } from '../../api/schemas.ts';
import { JsonView } from '../../parts/values/json-view.tsx';
import { Time } from '../../parts/values/time.tsx';
import { transactions as words } from '../../strings.ts';

type Detail = Schema<'TransactionDetail'>;
type Entry = Schema<'TimelineEntry'>;

/** Between whom an event happened. */
const SIDES: Readonly<Record<Entry['event'], 'provider' | 'platform' | 'operator'>> = {
  requested: 'provider',
  'operator-called': 'operator',
  'operator-answered': 'operator',
  'operator-silent': 'operator',
  'provider-told': 'provider',
  'settled-by-hand': 'platform',
  'lease-over': 'platform',
  parked: 'platform',
  'rollback-requested': 'provider',
  'rollback-settled': 'operator',
  'rolled-back': 'platform',
};

/** Both sides of each call in the order of time: the provider's on the left, the operator's on the right. */
export function Timeline({ data }: { readonly data: Detail }) {
  return (
    <section aria-label={words.timeline}>
      <h2 class="h6">{words.timeline}</h2>
      <div class="timeline-heads" aria-hidden="true">
        <span>{words.time}</span>
        <span>{words.providerSide}</span>
        <span>{words.operatorSide}</span>
      </div>
      <ol class="timeline">
        {data.timeline.map((entry, index) => (
          <li key={index}>
            <Time at={entry.at} />
            <div class={`timeline-${SIDES[entry.event]}`}>
              <strong>{words.event[entry.event]}</strong> {entry.text}
              <Bodies entry={entry} data={data} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Bodies({ entry, data }: { readonly entry: Entry; readonly data: Detail }) {
  const { event, text, operatorBody, operatorStatus } = entry;
  if (event === 'operator-called')
    return data.operatorRequest && <JsonView name={words.whatWasSent} value={data.operatorRequest.body} />;
  if (event === 'provider-told') {
    // A transaction that was rolled back keeps its stored answer, but the provider receives another one.
    const stored = text.startsWith('200 ') && !text.includes('TRANSACTION_ROLLED_BACK');
    return stored ? <JsonView name={words.whatWasTold} value={data.responseBody} /> : null;
  }
  return operatorBody === undefined ? null : (
    <JsonView name={words.whatWasAnswered(operatorStatus)} value={operatorBody} />
  );
}
