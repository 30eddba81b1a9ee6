import { answer, api, READ_MS } from './client.ts';
import { Problem } from './problem.ts';
import { beginSession, endSession, keptKey } from './session.ts';

/** What the console knows before the sign-in, from `/console/settings.json`. */
export interface Settings {
  readonly environment: 'sandbox' | 'production';
  readonly version: string;
  /** Present if people can sign in at an OpenID provider. */
  readonly issuer?: Issuer;
}

export interface Issuer {
  readonly url: string;
  readonly clientId: string;
  readonly scope: string;
  readonly audience: string;
}

export async function readSettings(): Promise<Settings> {
  const signal = AbortSignal.timeout(READ_MS);
  const response = await fetch('/console/settings.json', { cache: 'no-store', signal }).catch(() => {
    throw Problem.unreachable();
  });
  if (!response.ok) throw Problem.of(response, await response.json().catch(() => undefined));
  return (await response.json().catch(() => {
    throw Problem.unreachable();
  })) as Settings;
}

/**
 * Asks the service whose key this is, and begins the session.
 * @throws Problem with the service's own sentence if it refuses the key
 */
export async function signIn(key: string, keep: boolean): Promise<void> {
  // A header takes only visible ASCII; the service refuses everything else anyway.
  const sent = /^[\x21-\x7e]+$/.test(key) ? key : '-';
  const holder = await answer(api.GET('/v1/admin/me', { headers: { authorization: `Bearer ${sent}` } }));
  beginSession(key, holder, keep);
}

/** Signs in with the key that this tab has kept, if any. */
export async function resumeSession(): Promise<void> {
  const key = keptKey();
  if (key === undefined) return;
  try {
    await signIn(key, true);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Only what refuses the key ends the session: a service or database that restarts does not.
    if (error.status !== 401 && error.status !== 403) throw error;
    endSession(error.message);
  }
}
