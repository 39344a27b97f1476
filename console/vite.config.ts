import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The running service that `vite console` forwards API calls to during development. */
const service = 'http://127.0.0.1:8080';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    target: 'es2022',
    // The content security policy allows data: URLs for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/gleaner.': service, '/v1': service, '/files': service, '/console/session': service } },
});
