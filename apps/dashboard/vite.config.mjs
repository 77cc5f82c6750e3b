import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

export default {
  root: at('.'),
  base: '/',
  // Environment variables must not reach the page.
  envDir: false,
  resolve: {
    alias: { '#lib/api-client': at('../../libs/clients/api-client/index.ts') },
  },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir: at('../../dist/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    // The page's policy allows no inline scripts or styles, nor `data:` fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries mark their client modules. All modules here run in browsers.
      onLog: (level, log, handle) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
    },
  },
  server: {
    proxy: { '/api': process.env.DROVER_URL ?? 'http://127.0.0.1:3000' },
  },
};
