import { useSignal } from '@preact/signals';
import type { AnyComponent } from 'preact';
import { LocationProvider, Route, Router, useLocation, useRoute } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { loadOidc } from './api/load-oidc.ts';
import type { Problem } from './api/problem.ts';
import { endSession, me } from './api/session.ts';
import { type Issuer, readSettings, resumeSession, type Settings } from './api/sign-in.ts';
import { NotFound } from './parts/frame/not-found.tsx';
import { Shell } from './parts/frame/shell.tsx';
import { SignIn } from './parts/frame/sign-in.tsx';
import { addressOf } from './parts/links/addresses.ts';
import { ProblemAlert, problemOf } from './parts/reading/problem.tsx';
import { ROUTES } from './routes.tsx';
import { shell } from './strings.ts';

/** The pages, each with a state of its own for every path: Back must not show one record under another's heading. */
const PAGES = ROUTES.map(({ path, component }) => ({ path, component: keyedByPath(component) }));
const LINKS = ROUTES.flatMap(({ link }) => link ?? []);

function keyedByPath(Page: AnyComponent): AnyComponent {
  return function Keyed() {
    return <Page key={useRoute().path} />;
  };
}

/** Whether this is an issuer's answer (RFC 6749, section 4.1.2). Lists have a filter `state`, too. */
function isAnswer({ pathname, search }: Location): boolean {
  const query = new URLSearchParams(search);
  const ends = query.has('code') || query.has('error');
  return pathname === addressOf.overview && query.has('state') && ends;
}

/** Signs in if the browser comes from the issuer; a refusal or a missing script is shown beside the sign-in. */
async function signInAt(issuer: Issuer): Promise<void> {
  if (!isAnswer(location)) return;
  try {
    const { returnFromIssuer } = await loadOidc();
    await returnFromIssuer(issuer);
  } catch (error) {
    endSession(problemOf(error).message);
  }
}

function Pages() {
  const { path } = useLocation();
  // The router would throw.
  if (!isDecodable(path)) return <NotFound />;
  return (
    <Router>
      {PAGES.map(({ path, component }) => (
        <Route key={path} path={path} component={component} />
      ))}
      <Route default component={NotFound} />
    </Router>
  );
}

/** Whether an address is not cut off within an escape, such as `%2`. */
function isDecodable(path: string): boolean {
  try {
    // The bundler drops a call whose result is not used.
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

export function App() {
  const settings = useSignal<Settings | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const begin = async () => {
    problem.value = undefined;
    try {
      const read = await readSettings();
      const { issuer } = read;
      if (issuer) await signInAt(issuer);
      await resumeSession();
      settings.value = read;
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  useEffect(() => void begin(), []);
  if (problem.value) return <ProblemAlert problem={problem.value} retry={() => void begin()} />;
  if (!settings.value) return <p role="status">{shell.loading}</p>;
  if (!me.value) return <SignIn settings={settings.value} />;
  return (
    <LocationProvider scope="/console">
      <Shell links={LINKS}>
        <Pages />
      </Shell>
    </LocationProvider>
  );
}
