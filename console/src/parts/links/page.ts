import { useLocation, useRoute } from 'preact-iso';
import { useEffect } from 'preact/hooks';

export interface PageAddress {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The path with the query: everything that the page's reads depend on. */
  readonly url: string;
}

/**
 * The address for which the page is rendered. While the module of the next page is loaded, the page before it is still
 * shown, but `useLocation` has the address of the next one.
 */
export function usePage(): PageAddress {
  const { path, query } = useRoute();
  return { path, query, url: `${path}?${new URLSearchParams(query).toString()}` };
}

/** Sets the document's title to that of the page. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Croupier`;
  }, [title]);
}

/** Moves the focus to the content of the page, from where the Tab key goes on. */
export function focusContent(): void {
  document.getElementById('main')?.focus({ preventScroll: true });
}

/** Replaces the page's address with another one, as soon as there is one, unless the person has left the page. */
export function useRedirect(address: string | undefined): void {
  const page = usePage();
  const { path, route } = useLocation();
  useEffect(() => {
    if (address !== undefined && path === page.path) route(address, true);
  }, [address]);
}
