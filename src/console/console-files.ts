import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Configuration } from '../config/configuration.js';
import { Representation } from '../openapi/pages/representation.js';
import { PACKAGE_FOLDER } from '../runtime/build.js';

/** What `npm run build -w console` has written. */
const FOLDER = join(PACKAGE_FOLDER, 'dist/console-app');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The files of the console, read once, at start, and compressed once, when they are first requested, because they are
 * served without credentials and must therefore be cheap.
 */
@Injectable()
export class ConsoleFiles implements OnModuleInit {
  /** The page of every address; undefined if the console is switched off, or was not built. */
  index: Representation | undefined;
  /** Scripts, styles and images by name. A name has a hash of the content. */
  readonly assets = new Map<string, Representation>();

  constructor(private readonly configuration: Configuration) {}

  onModuleInit(): void {
    if (!this.configuration.consoleEnabled) return;
    try {
      const page = readFileSync(join(FOLDER, 'index.html'));
      this.index = new Representation('text/html; charset=utf-8', () => page);
      for (const name of readdirSync(join(FOLDER, 'assets'))) this.add(name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      new Logger('Console').warn('/console is not served, because it was not built: npm run build');
    }
  }

  private add(name: string): void {
    const type = TYPES[extname(name)];
    const content = readFileSync(join(FOLDER, 'assets', name));
    if (type !== undefined) this.assets.set(name, new Representation(type, () => content));
  }
}
