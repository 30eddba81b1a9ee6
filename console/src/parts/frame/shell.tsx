import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import { endSession, may, me, type Role, rolesOf } from '../../api/session.ts';
import { connection } from '../../api/stream.ts';
import { forgetAllUnfinished } from '../../api/unfinished.ts';
import { shell as words, signIn } from '../../strings.ts';
import { dismissNoticeOf, Notice } from '../actions/notice.tsx';
import { outdated, useLeaveGuard } from '../forms/unsaved.ts';
import { addressOf } from '../links/addresses.ts';
import { focusContent } from '../links/page.ts';
import { SearchBox } from './search-box.tsx';

/** A link of the navigation. */
export interface NavigationLink {
  readonly title: string;
  readonly address: string;
  readonly role: Role;
  readonly sandboxOnly: boolean;
}

interface ShellProps {
  readonly links: readonly NavigationLink[];
  readonly children: ComponentChildren;
}

/** What surrounds each page: the banner, the search box, the navigation and the notice. */
export function Shell({ links, children }: ShellProps) {
  const { path, url } = useLocation();
  const menu = useRef<HTMLDetailsElement>(null);
  const shownBefore = useRef(false);
  useLeaveGuard();
  useEffect(() => {
    dismissNoticeOf(path);
    if (menu.current && !isWide()) menu.current.open = false;
    // Otherwise the focus would stay on a link of the page before.
    if (shownBefore.current) focusContent();
    shownBefore.current = true;
  }, [path]);
  useEffect(() => {
    // What had the focus is gone: the sign-in, an applied filter, or the link to a form that replaced its list.
    if (document.activeElement === document.body) focusContent();
  }, [url]);
  const sandbox = me.value?.environment === 'sandbox';
  const shown = links.filter(({ role, sandboxOnly }) => may(role) && (sandbox || !sandboxOnly));
  return (
    <>
      <a class="visually-hidden-focusable skip" href="#main" onClick={focusContent}>
        {words.skip}
      </a>
      <Banner />
      <div class="frame">
        <nav aria-label={words.navigation} class="navigation">
          <details ref={menu} open={isWide()}>
            <summary>{words.menu}</summary>
            <ul class="nav flex-column">
              {shown.map(({ title, address }) => (
                <li key={address}>
                  <a
                    class="nav-link"
                    href={address}
                    aria-current={isCurrent(address, path) ? 'page' : undefined}
                  >
                    {title}
                  </a>
                </li>
              ))}
            </ul>
          </details>
        </nav>
        <main id="main" tabIndex={-1}>
          <Notice />
          {children}
        </main>
      </div>
    </>
  );
}

function Banner() {
  if (!me.value) return null;
  const { environment, version, name } = me.value;
  return (
    <header class={`banner banner-${environment}`}>
      <a class="fw-bold text-reset text-decoration-none" href={addressOf.overview}>
        {words.product}
      </a>
      <span class="environment">{words.environment[environment]}</span>
      <span class="small">{words.version(version)}</span>
      <SearchBox />
      <span class={`connection connection-${connection.value}`} role="status">
        {words.connection[connection.value]}
      </span>
      {outdated.value && (
        <span class="small" role="status">
          {words.outdated}
        </span>
      )}
      <span class="person">{words.signedInAs(name, rolesOf(me.value).join(', '))}</span>
      <button
        type="button"
        class="btn btn-sm btn-outline-secondary"
        onClick={() => {
          forgetAllUnfinished();
          endSession(signIn.signedOut);
        }}
      >
        {words.signOut}
      </button>
    </header>
  );
}

/** The navigation is folded on a phone. */
const isWide = () => matchMedia('(min-width: 768px)').matches;

/** A page below a list, such as that of a transaction, belongs to the list's link. */
function isCurrent(address: string, path: string): boolean {
  if (address === addressOf.overview) return `${path}/` === address;
  return path === address || path.startsWith(`${address}/`);
}
