import { configDefaults, defineConfig } from 'vitest/config';
import { long } from './vitest.config.js';

/** The tests that depend on Node itself: sockets, HTTP, TLS, streams, signals and the engine. CI runs them on each Node. */
export default defineConfig({
  test: {
    ...long,
    include: [
      'test/{contract,outbound,security}/**/*.test.ts',
      'test/http/{server,equivalence}/**/*.test.ts',
      'test/http/bodies.test.ts',
      'test/process/killed.long.test.ts',
      '{sdk,cli}/test/**/*.test.ts',
    ],
    exclude: [...configDefaults.exclude, '**/certify*.long.test.ts', '**/debug-signature.table.long.test.ts'],
  },
});
