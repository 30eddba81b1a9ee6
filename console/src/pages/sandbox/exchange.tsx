import { useEffect } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { addressOf } from '../../parts/links/addresses.ts';
import { isUndecided } from '../../parts/lists/transaction-columns.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { JsonView, jsonText } from '../../parts/values/json-view.tsx';
import { Time } from '../../parts/values/time.tsx';
import { sandbox as words } from '../../strings.ts';
import type { Exchange } from './signed-calls.ts';

/** Polling interval for a transaction without a final outcome, in milliseconds. */
const POLL_MS = 2_000;

interface ExchangeCardProps {
  readonly exchange: Exchange;
  readonly providerId: string;
}

/** A request as it was signed and sent, its answer, and what the service did with a transaction. */
export function ExchangeCard({ exchange, providerId }: ExchangeCardProps) {
  const { title, path, headers, body, status, signedText, transactionId } = exchange;
  const { answerHeaders, answer: text } = exchange;
  return (
    <article class="card my-3" aria-label={title}>
      <div class="card-header d-flex justify-content-between">
        <h2 class="h6 mb-0">{title}</h2>
        <span class={status !== undefined && status < 400 ? undefined : 'alarm'}>
          {status ?? words.noAnswer}
        </span>
      </div>
      <div class="card-body exchange">
        <div>
          <p class="mb-1">{words.request}</p>
          <pre tabIndex={0}>{[`POST ${path}`, ...lines(headers), '', jsonText(body)].join('\n')}</pre>
          <JsonView name={words.signedText} value={signedText} />
        </div>
        <div>
          <p class="mb-1">{words.answer}</p>
          <pre tabIndex={0}>
            {[String(status ?? words.noAnswer), ...lines(answerHeaders), '', jsonText(text)].join('\n')}
          </pre>
        </div>
        {transactionId !== undefined && <Story providerId={providerId} transactionId={transactionId} />}
      </div>
    </article>
  );
}

const lines = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

interface StoryProps {
  readonly providerId: string;
  readonly transactionId: string;
}

/** What the service did with the transaction, followed until it is decided. */
function Story({ providerId, transactionId }: StoryProps) {
  const path = { providerId, transactionId };
  const story = useResource(`${providerId}/${transactionId}`, (signal) =>
    answer(api.GET('/v1/admin/transactions/{providerId}/{transactionId}', { params: { path }, signal })),
  );
  const { state } = story.data.value ?? {};
  const isOpen = isUndecided(state);
  useEffect(() => {
    if (!isOpen) return;
    const timer = setInterval(story.reload, POLL_MS);
    return () => clearInterval(timer);
  }, [isOpen]);
  return (
    <div>
      <p class="mb-1">
        {words.story} <a href={addressOf.transaction(providerId, transactionId)}>{transactionId}</a>
      </p>
      <Loaded of={story}>{(data) => <Timeline transaction={data} />}</Loaded>
    </div>
  );
}

function Timeline({ transaction }: { readonly transaction: Schema<'TransactionDetail'> }) {
  const { state, timeline, advice } = transaction;
  return (
    <>
      <p class="mb-1">
        <strong>{state}</strong> {advice.text}
      </p>
      <ol class="small mb-0">
        {timeline.map(({ at, text }, index) => (
          <li key={index}>
            <Time at={at} /> {text}
          </li>
        ))}
      </ol>
    </>
  );
}
