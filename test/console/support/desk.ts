import type { INestApplication } from '@nestjs/common';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
  type Route,
} from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { CHROMIUM, FLAGS } from '../../world/browser.js';
import { ADMIN_KEY, type World } from '../../world/world.js';

/** Time-out of a step on a page, in milliseconds. */
const PATIENCE_MS = 30_000;

/** A `describe` whose tests are skipped where there is no browser. */
export const describeDesk = describe.skipIf(!existsSync(CHROMIUM));

/** Widths at which every page is tested. */
export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1440, height: 900 };

/** The browser of a test file, and what its pages complained about. */
export class Desk {
  browser: Browser;
  /** Errors of scripts, violations of the Content-Security-Policy and other errors on the console, of all pages. */
  readonly complaints: string[] = [];
  /** Every origin that received a request. */
  readonly origins = new Set<string>();

  constructor(private readonly world: World) {}

  /** A new tab of its own context: nothing is kept from another one. */
  async open(path = '/console/', options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({
      viewport: DESK,
      baseURL: this.world.url,
      // Without transitions: axe measures a colour half-way through one, and finds too little contrast.
      reducedMotion: 'reduce',
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('request', (request) => {
      if (!/^(?:data|blob):/.test(request.url())) this.origins.add(new URL(request.url()).origin);
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // Chromium reports each answer that is not a success; the pages show those.
      const isAnswer = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAnswer) this.complaints.push(message.text());
    });
    await page.goto(path);
    return page;
  }

  /** A new tab, signed in and at this address. */
  async signedIn(path = '/console/', key = ADMIN_KEY, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.open(path, options);
    await signIn(page, key);
    return page;
  }

  /** A new tab, signed in and at this address, whose clock a test can advance. */
  async withClock(path: string): Promise<Page> {
    const page = await this.open(path);
    await page.clock.install();
    await page.reload();
    await signIn(page, ADMIN_KEY);
    return page;
  }

  /** An admin key of this role. */
  async keyOf(role: string): Promise<string> {
    return (await this.world.administrator(role, `${role} of the desk`)).key;
  }
}

/** The desk of a world, with a browser that is closed after the tests. The world's time becomes that of the browser. */
export function useDesk(world: World): Desk {
  const desk = new Desk(world);
  beforeAll(async () => {
    world.clock.advance(Date.now() / 1000 - world.clock.unixSeconds());
    desk.browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  });
  // The browser may keep connections, for which a stop of the service would wait.
  afterAll(async () => {
    await desk.browser.close();
    closeConnections(world.app);
  });
  return desk;
}

export function closeConnections(app: INestApplication): void {
  (app.getHttpServer() as Server).closeAllConnections();
}

/** Signs in like a person, and waits for the banner. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('Admin key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/**
 * Holds requests of a page to an address: all, or those for which `when` returns true.
 * @param goOn handles a held request once it is released; by default it is sent
 * @returns a function that releases the requests
 */
export async function hold(
  page: Page,
  url: string | RegExp,
  {
    when = () => true,
    goOn = (route) => route.continue(),
  }: { when?: (request: Request) => boolean; goOn?: (route: Route) => Promise<void> } = {},
): Promise<() => void> {
  let release: () => void = () => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  await page.route(url, async (route) => {
    if (!when(route.request())) return route.continue();
    await isReleased;
    return goOn(route);
  });
  return release;
}

/**
 * Presses the button that confirms the open dialog, and leaves the dialog after 20 s without an answer.
 * @param page one of `withClock`
 * @param request the path of the action's request
 * @returns a function that lets the service answer
 */
export async function leaveSlow(page: Page, request: string, confirm: string): Promise<() => void> {
  const isAction = (sent: Request) => sent.method() !== 'GET';
  const received = page.waitForRequest((sent) => isAction(sent) && new URL(sent.url()).pathname === request);
  const send = await hold(page, `**${request}`, { when: isAction });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: confirm }).click();
  await received;
  await page.clock.fastForward(20_000);
  await dialog.getByText('The service has not answered yet, and may still carry this out.').waitFor();
  await dialog.getByRole('button', { name: 'Back' }).click();
  await dialog.waitFor({ state: 'detached' });
  return send;
}

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/**
 * What axe finds critical or serious on the page as it is now, with the elements concerned. The page must have been
 * opened with `bypassCSP`, because its policy allows no script of a test.
 */
export async function seriousFindings(page: Page): Promise<string[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  await page.addScriptTag({ path: axe });
  const findings = await page.evaluate<Finding[]>(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations)",
  );
  return findings
    .filter(({ impact }) => impact === 'critical' || impact === 'serious')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/**
 * What is wrong with the page at both widths, light and dark, as `seriousFindings` and `overflows` judge it. The page must
 * have been opened with `bypassCSP`.
 */
export async function faultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const viewport of [PHONE, DESK]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const found = await seriousFindings(page);
      if (await overflows(page)) found.push('the page scrolls sideways');
      faults.push(...found.map((fault) => `${viewport.width} px, ${colorScheme}: ${fault}`));
    }
  }
  return faults;
}

/** Whether the page scrolls sideways, which no page may at any width. */
export function overflows(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > innerWidth');
}
