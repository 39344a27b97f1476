// Restores what a test file changes of its process, which other files share.
import { afterAll, vi } from 'vitest';
import { declaredSites } from '../../../src/markets/declared-sites/declared-sites.ts';

afterAll(() => {
  declaredSites.use(null);
  vi.restoreAllMocks();
});
