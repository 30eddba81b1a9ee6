import { configDefaults, defineConfig } from 'vitest/config';
import { long, WITHOUT_SERVICES } from './vitest.config.js';

/** The longer tests that `npm run test:services` leaves out. Together, the two run each longer test once, as CI does. */
export default defineConfig({
  test: {
    ...long,
    include: WITHOUT_SERVICES,
    exclude: [...configDefaults.exclude, '**/!(*.long).test.ts'],
  },
});
