import { defineConfig } from 'vite';

/** The service serves `dist/console-app` at /console: `src/console/` of the service. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  publicDir: false,
  build: {
    outDir: '../dist/console-app',
    emptyOutDir: true,
    target: 'es2022',
    // The Content-Security-Policy allows no inline script or style.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The licences of the packages that the bundle contains.
    license: { fileName: 'licences.json' },
  },
});
