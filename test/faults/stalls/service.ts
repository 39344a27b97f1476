import { fileURLToPath } from 'node:url';
import { programs } from '../../../src/app/programs.ts';

/* The service with a page worker whose reader stalls on one item. */

Object.assign(programs, {
  pageWorker: fileURLToPath(new URL('./page-worker.ts', import.meta.url)),
});
await import('../../../src/cli/main.ts');
