import { existsSync } from 'node:fs';

/** Debian's Chromium, first the build without a window, which takes half the time. */
const INSTALLED = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
/** Chromium, which is not a package of npm. Tests that need it are skipped if it is missing. */
export const CHROMIUM =
  process.env['CHROMIUM_PATH'] ?? INSTALLED.find((path) => existsSync(path)) ?? INSTALLED[0]!;
if (!existsSync(CHROMIUM))
  console.warn(
    `SKIPPED: there is no browser at ${CHROMIUM} (apt-get install chromium-headless-shell, or CHROMIUM_PATH)`,
  );

/** No connection except to this machine, and no dialogs of a first start. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];
