import { defineConfig } from 'vite';

const SERVICE = 'http://127.0.0.1:3000';

/** The service serves `dist/console-app` at /console: `src/console/` of the service. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  publicDir: false,
  // For `npm run dev -w console`: the pages are built as they are opened, and call a service that runs beside it.
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/console/settings.json', '/console/sandbox.json'].map((path) => [path, SERVICE]),
    ),
  },
  build: {
    outDir: '../dist/console-app',
    emptyOutDir: true,
    target: 'es2022',
    // The Content-Security-Policy allows no inline script or style.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // On a slow machine, Vite's own plugins take over a second: the warning would be the first thing a newcomer reads.
    rolldownOptions: { checks: { bundlerTimings: false } },
    // The licences of the packages that the bundle contains.
    license: { fileName: 'licences.json' },
  },
});
