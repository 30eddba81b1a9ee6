import { configDefaults, defineConfig } from 'vitest/config';
import { long } from './vitest.config.js';

/** The tests of `npm run test:services`: all tests, except those that test/services.sh leaves out. */
export default defineConfig({
  test: {
    ...long,
    exclude: configDefaults.exclude,
  },
});
