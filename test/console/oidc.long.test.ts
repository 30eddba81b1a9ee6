import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApplication, useWorld } from '../world/world.js';
import { closeConnections, describeDesk, useDesk } from './support/desk.js';

const CLIENT = 'croupier-console';
const AUDIENCE = 'croupier';

interface OpenIdProvider {
  callback(): RequestListener;
}
type OpenIdProviderClass = new (issuer: string, configuration: object) => OpenIdProvider;

/** oidc-provider, a certified OpenID provider. Its own pages accept every name and password. */
async function issuerFor(url: string, redirectUri: string): Promise<OpenIdProvider> {
  // The package has no types, so the compiler must not look for them.
  const name: string = 'oidc-provider';
  const { default: Provider } = (await import(name)) as { default: OpenIdProviderClass };
  return new Provider(url, {
    clients: [
      {
        client_id: CLIENT,
        token_endpoint_auth_method: 'none',
        redirect_uris: [redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    clientBasedCORS: () => true,
    pkce: { required: () => true },
    // The name with which a person signs in is their role.
    extraTokenClaims: (_context: unknown, { accountId }: { accountId: string }) => ({ role: accountId }),
    features: {
      resourceIndicators: {
        enabled: true,
        defaultResource: () => `urn:${AUDIENCE}`,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience: AUDIENCE,
          accessTokenTTL: 300,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
}

describeDesk('sign-in at an OpenID provider', () => {
  const world = useWorld();
  const desk = useDesk(world);
  let issuer: Server;
  let issuerUrl: string;
  let service: Awaited<ReturnType<typeof startApplication>>;

  beforeAll(async () => {
    issuer = createServer();
    issuer.listen(0, '127.0.0.1');
    await once(issuer, 'listening');
    issuerUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
    const environment = {
      DATABASE_URL: world.databaseUrl,
      ADMIN_JWT_ISSUER: issuerUrl,
      ADMIN_JWT_AUDIENCE: AUDIENCE,
      ADMIN_JWT_CLIENT_ID: CLIENT,
    };
    service = await startApplication(environment, world.clock);
    const provider = await issuerFor(issuerUrl, `${service.url}/console/`);
    issuer.on('request', provider.callback());
  });
  afterAll(async () => {
    issuer.close();
    issuer.closeAllConnections();
    closeConnections(service.app);
    await service.app.close();
  });

  const leave = (page: Page) =>
    page.getByRole('button', { name: `Continue with ${new URL(issuerUrl).host}` }).click();

  async function signInAs(page: Page, name: string): Promise<void> {
    await leave(page);
    await page.locator('[name=login]').fill(name);
    await page.locator('[name=password]').fill('any');
    await page.locator('[type=submit]').click();
    await page.waitForURL((url) => url.pathname.startsWith('/interaction/') && url.origin === issuerUrl);
    await page
      .locator('[type=submit]')
      .filter({ hasText: /continue/i })
      .click();
  }

  test('leads back to the address, signed in with the role of the token, which no storage keeps', async () => {
    const page = await desk.open(`${service.url}/console/nowhere?providerId=acme`);
    await signInAs(page, 'promotions');
    await page.getByRole('banner').getByText('promotions (promotions)').waitFor();
    expect(page.url()).toBe(`${service.url}/console/nowhere?providerId=acme`);
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).toBe(
      '[{},{}]',
    );
    await page.context().close();
  });

  test('with the box ticked, the token survives a reload in this tab', async () => {
    const page = await desk.open(`${service.url}/console/`);
    await page.getByLabel('Stay signed in for this tab').check();
    await signInAs(page, 'auditor');
    await page.getByRole('banner').getByText('auditor (auditor)').waitFor();
    await page.reload();
    await page.getByRole('banner').getByText('auditor (auditor)').waitFor();
    await page.context().close();
  });

  test('without its script, the sign-in says so, and can be tried again', async () => {
    const page = await desk.open(`${service.url}/console/`);
    await page.route('**/assets/oidc-*.js', (route) => route.abort(), { times: 1 });
    await leave(page);
    await page.getByRole('alert').filter({ hasText: 'A part of the console could not be loaded.' }).waitFor();
    await leave(page);
    await page.locator('[name=login]').waitFor();
    await page.context().close();
  });

  test('a sign-in page that is shown again after it was left can be used', async () => {
    const page = await desk.open(`${service.url}/console/`);
    // After a 204 the browser shows the page as it was, as its back/forward cache does.
    await page.route(`${issuerUrl}/auth?*`, (route) => route.fulfill({ status: 204 }), { times: 1 });
    const left = page.waitForRequest(`${issuerUrl}/auth?*`);
    await leave(page);
    await left;
    await leave(page);
    await page.locator('[name=login]').waitFor();
    await page.context().close();
  });

  test('without its script on the way back, the sign-in is shown and says so', async () => {
    const page = await desk.open(`${service.url}/console/`);
    await leave(page);
    await page.locator('[name=login]').waitFor();
    await page.route('**/assets/oidc-*.js', (route) => route.abort(), { times: 1 });
    await page.goto(`${service.url}/console/?code=any&state=any&iss=${encodeURIComponent(issuerUrl)}`);
    await page.getByText('A part of the console could not be loaded.').waitFor();
    await page.getByLabel('Admin key').waitFor();
    await page.context().close();
  });

  test('a person without a role of ours is refused in the words of the service', async () => {
    const page = await desk.open(`${service.url}/console/`);
    await signInAs(page, 'guest');
    await page.getByText('this needs the role auditor').waitFor();
    await page.getByLabel('Admin key').waitFor();
    await page.context().close();
  });

  test('an answer with another state is not accepted', async () => {
    const page = await desk.open(`${service.url}/console/`);
    await leave(page);
    await page.locator('[name=login]').waitFor();
    await page.goto(`${service.url}/console/?code=stolen&state=another&iss=${encodeURIComponent(issuerUrl)}`);
    await page.getByText('The OpenID provider did not sign you in').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await page.context().close();
  });

  test('the filter "state" of a list is not taken for an answer of the provider', async () => {
    const page = await desk.open(`${service.url}/console/`);
    await leave(page);
    await page.locator('[name=login]').waitFor();
    const list = `${service.url}/console/approvals?state=WAITING`;
    await page.goto(list);
    await page.getByLabel('Admin key').waitFor();
    await expect.poll(() => page.getByText('The OpenID provider did not sign you in').count()).toBe(0);
    expect(page.url()).toBe(list);
    await page.context().close();
  });

  test('the policy allows calls to the issuer only where one is configured', async () => {
    const connectOf = async (url: string) =>
      /connect-src ([^;]*)/.exec(
        (await fetch(`${url}/console/`)).headers.get('content-security-policy')!,
      )?.[1];
    expect(await connectOf(service.url)).toBe(`'self' ${issuerUrl}`);
    expect(await connectOf(world.url)).toBe("'self'");
    expect(await (await fetch(`${world.url}/console/settings.json`)).json()).not.toHaveProperty('issuer');
  });

  test('no page complained', () => expect(desk.complaints).toEqual([]));
});
