/** Loaded into each instance before the service: the names of a run are resolved from its file instead of by DNS. */
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { appendFileSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DOMAIN, failuresFile } from './names.js';

type Callback = (error: Error | null, address?: string | LookupAddress[], family?: number) => void;

const file = process.env['CHAOS_NAMES'] ?? '';
const system = dns.lookup as (hostname: string, options: LookupOptions, callback: Callback) => void;

function lookup(hostname: string, options: LookupOptions | number | Callback, callback?: Callback): void {
  const done = callback ?? (options as Callback);
  const wanted = typeof options === 'object' ? options : {};
  if (!hostname.endsWith(DOMAIN)) return system(hostname, wanted, done);
  const address = (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)[hostname];
  setImmediate(() => {
    if (address === undefined) done(notFound(hostname));
    else if (wanted.all) done(null, [{ address, family: 4 }]);
    else done(null, address, 4);
  });
}

function notFound(hostname: string): Error {
  appendFileSync(failuresFile(file), `${hostname}\n`);
  const known = { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname };
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), known);
}

dns.lookup = lookup as typeof dns.lookup;
// Modules that import `lookup` by its name also get this one.
syncBuiltinESMExports();
