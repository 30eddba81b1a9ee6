import * as oauth from 'oauth4webapi';
import { signIn as words } from '../strings.ts';
import { Problem } from './problem.ts';
import { type Issuer, signIn } from './sign-in.ts';

/** Kept in the tab's storage while the browser is at the issuer. */
const UNDER_WAY = 'croupier-console-sign-in';

interface UnderWay {
  readonly state: string;
  readonly verifier: string;
  readonly keep: boolean;
  /** The address to which the sign-in leads back. */
  readonly address: string;
}

const redirectUri = () => `${location.origin}/console/`;

/** Goes to the issuer: OpenID Connect's authorization code flow with PKCE (RFC 7636). */
export async function leaveForIssuer(issuer: Issuer, keep: boolean): Promise<void> {
  const { authorization_endpoint: endpoint } = await discover(issuer);
  if (endpoint === undefined) throw problem(words.issuerAway);
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
  const challenge = await oauth.calculatePKCECodeChallenge(verifier);
  // Nothing is awaited from here on: a second click must not store another state while the browser leaves with this one.
  const underWay: UnderWay = { state, verifier, keep, address: location.pathname + location.search };
  sessionStorage.setItem(UNDER_WAY, JSON.stringify(underWay));
  const address = new URL(endpoint);
  const parameters = {
    client_id: issuer.clientId,
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: issuer.scope,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    // Some issuers choose the audience of the access token by it; others ignore it (RFC 6749, section 3.1).
    audience: issuer.audience,
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  location.assign(address);
}

/**
 * Signs in with the answer with which the issuer has sent the browser back, and restores the address. An answer to no
 * sign-in of this tab is ignored.
 * @throws Problem if the issuer or the service refuses
 */
export async function returnFromIssuer(issuer: Issuer): Promise<void> {
  const stored = sessionStorage.getItem(UNDER_WAY);
  if (stored === null) return;
  const answered = new URL(location.href);
  sessionStorage.removeItem(UNDER_WAY);
  const { state, verifier, keep, address } = JSON.parse(stored) as UnderWay;
  history.replaceState(null, '', address);
  await signIn(await accessToken(issuer, answered, { state, verifier }), keep);
}

async function accessToken(
  issuer: Issuer,
  answered: URL,
  { state, verifier }: Pick<UnderWay, 'state' | 'verifier'>,
): Promise<string> {
  const client: oauth.Client = { client_id: issuer.clientId };
  try {
    const server = await discover(issuer);
    const parameters = oauth.validateAuthResponse(server, client, answered, state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      redirectUri(),
      verifier,
      insecureOf(issuer),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response);
    return tokens.access_token;
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError)
      throw problem(words.issuerRefused(error.error_description ?? error.error));
    if (error instanceof Problem) throw error;
    throw problem(words.issuerRefused((error as Error).message));
  }
}

async function discover(issuer: Issuer): Promise<oauth.AuthorizationServer> {
  const address = new URL(issuer.url);
  try {
    const response = await oauth.discoveryRequest(address, insecureOf(issuer));
    return await oauth.processDiscoveryResponse(address, response);
  } catch {
    throw problem(words.issuerAway);
  }
}

/** The service accepts an issuer without TLS only where private addresses are allowed, as in the sandbox. */
// eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated in order to stand out
const insecureOf = ({ url }: Issuer) => ({ [oauth.allowInsecureRequests]: url.startsWith('http://') });

/** Not passed by a retry without a click: the browser would leave the page. */
const problem = (sentence: string) => new Problem(sentence, 400, undefined, undefined, undefined);
