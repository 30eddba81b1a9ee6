import { views as words } from '../../strings.ts';
import { withQuery } from '../links/addresses.ts';
import { usePage } from '../links/page.ts';

export interface View {
  readonly title: string;
  /** The path of the list; by default that of the page. */
  readonly path?: string;
  /** The filters of the view. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Links to the views of a list that people need most. The one that is shown is marked. */
export function Views({ views }: { readonly views: readonly View[] }) {
  const { path, query } = usePage();
  const { cursor: _cursor, ...shown } = query;
  return (
    <nav aria-label={words.legend}>
      <ul class="nav nav-underline mb-2">
        {views.map(({ title, path: target = path, query: filter = {} }) => {
          const isCurrent = target === path && isSame(filter, shown);
          return (
            <li key={title} class="nav-item">
              <a
                class={`nav-link py-1 ${isCurrent ? 'active' : ''}`}
                aria-current={isCurrent ? 'page' : undefined}
                href={withQuery(target, filter)}
              >
                {title}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function isSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
