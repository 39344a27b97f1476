import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** A running service, for `vite console`: the console is served by Vite then, its calls go there. */
const service = 'http://127.0.0.1:8080';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    target: 'es2022',
    // The content security policy has no data: but for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/gleaner.': service, '/v1': service, '/files': service } },
});
