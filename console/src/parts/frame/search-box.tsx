import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useEffect, useId, useRef } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import type { Problem } from '../../api/problem.ts';
import type { Schema } from '../../api/schemas.ts';
import { search as words } from '../../strings.ts';
import { mayLeave } from '../forms/unsaved.ts';
import { addressOf, pageOf } from '../links/addresses.ts';
import { IdLink } from '../links/id-link.tsx';
import { ProblemAlert, problemOf } from '../reading/problem.tsx';
import { Time } from '../values/time.tsx';

type Hit = Schema<'SearchItem'>;

/** Finds any id: one hit opens its page, several are listed with their type and time. */
export function SearchBox() {
  const { url, route } = useLocation();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const hits = useSignal<{ readonly id: string; readonly items: readonly Hit[] } | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const searching = useRef(new AbortController());

  const close = () => {
    searching.current.abort();
    hits.value = undefined;
    problem.value = undefined;
  };
  useEffect(close, [url]);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || takesText(event.target))
        return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);

  const search = async (event: SubmitEvent) => {
    event.preventDefault();
    const q = field.current?.value.trim() ?? '';
    if (q === '') return;
    close();
    const { signal } = (searching.current = new AbortController());
    try {
      const { items } = await answer(api.GET('/v1/admin/search', { params: { query: { q } }, signal }));
      if (signal.aborted) return;
      const [only, ...more] = items;
      const page = only && more.length === 0 ? pageOfHit(only) : undefined;
      if (page === undefined) hits.value = { id: q, items };
      else if (mayLeave()) route(page);
    } catch (error) {
      if (!signal.aborted) problem.value = problemOf(error);
    }
  };
  return (
    <search class="search">
      <form onSubmit={(event) => void search(event)} onKeyDown={({ key }) => key === 'Escape' && close()}>
        <label for={id} class="visually-hidden">
          {words.label}
        </label>
        <input
          ref={field}
          id={id}
          type="search"
          class="form-control form-control-sm"
          placeholder={words.label}
          title={words.hint}
          maxLength={256}
          autoComplete="off"
          spellcheck={false}
        />
      </form>
      {problem.value && <ProblemAlert problem={problem.value} />}
      {hits.value && <Hits {...hits.value} onClose={close} />}
    </search>
  );
}

interface HitsProps {
  readonly id: string;
  readonly items: readonly Hit[];
  readonly onClose: () => void;
}

function Hits({ id, items, onClose }: HitsProps) {
  return (
    <div class="hits" role="status">
      <div class="d-flex justify-content-between align-items-start gap-2">
        <strong>{items.length === 0 ? words.none(id) : words.several(items.length)}</strong>
        <button type="button" class="btn-close" aria-label={words.close} onClick={onClose} />
      </div>
      <ul class="list-unstyled mb-0">
        {items.map((hit) => (
          <li key={hit.href}>
            {words.type[typeOf(hit)] ?? hit.type} <IdLink id={hit.id} href={pageOfHit(hit)} />{' '}
            <span class="text-body-secondary">
              {[hit.providerId, hit.operatorId].filter(Boolean).join(' · ')} <Time at={hit.at} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A callback is found by its request id, as the request itself is. */
const typeOf = ({ type, href }: Hit) => (href.startsWith('/v1/admin/callbacks/') ? 'callback' : type);

/** The page of a hit. A player has a page, but the API has only lists of a player's transactions. */
function pageOfHit({ type, id, operatorId, href }: Hit): string | undefined {
  return type === 'player' ? addressOf.player(id, operatorId) : pageOf(href);
}

function takesText(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null;
}
