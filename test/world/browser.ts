import { existsSync } from 'node:fs';

/** Chromium, which is not a package of npm. Tests that need it are skipped if it is missing. */
export const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
if (!existsSync(CHROMIUM))
  console.warn(`SKIPPED: there is no browser at ${CHROMIUM} (apt-get install chromium, or CHROMIUM_PATH)`);

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
