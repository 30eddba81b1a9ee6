import { configDefaults, defineConfig } from 'vitest/config';
import { long, WITHOUT_SERVICES } from './vitest.config.js';

/** The tests of `npm run test:services`: those for which a real PostgreSQL or Redis can make a difference. */
export default defineConfig({
  test: {
    ...long,
    exclude: [...configDefaults.exclude, ...WITHOUT_SERVICES],
  },
});
