import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** The names that the instances use for other parties. The faults change where they lead. */
export const NAMES = ['wallet', 'database'] as const;
export type Name = (typeof NAMES)[number];

/** `moved` is another address of the same party, `other` the address of another party. */
export const ADDRESSES = { home: '127.0.0.1', moved: '127.0.0.2', other: '127.0.0.3' } as const;
export type Place = keyof typeof ADDRESSES;

/** The top-level domain that no other name in a run has. RFC 2606 reserves it. */
export const DOMAIN = '.test';

export const hostOf = (name: Name) => `${name}${DOMAIN}`;

/** The addresses of the names, in a file that the instances read at each look-up. */
export class Names {
  private readonly addresses = new Map<string, string>();

  constructor(readonly file: string) {
    for (const name of NAMES) this.lead(name, 'home');
  }

  /** @param place undefined if the name does not resolve */
  lead(name: Name, place: Place | undefined): void {
    if (place) this.addresses.set(hostOf(name), ADDRESSES[place]);
    else this.addresses.delete(hostOf(name));
    // An instance must never read half a file.
    writeFileSync(`${this.file}.new`, JSON.stringify(Object.fromEntries(this.addresses)));
    renameSync(`${this.file}.new`, this.file);
  }

  /** The number of look-ups of a name that found no address. */
  failures(name: Name): number {
    try {
      const hosts = readFileSync(failuresFile(this.file), 'utf8').split('\n');
      return hosts.filter((host) => host === hostOf(name)).length;
    } catch {
      return 0;
    }
  }
}

/** The file with the host of each look-up that found no address, one a line. */
export function failuresFile(file: string): string {
  return `${file}.failures`;
}
