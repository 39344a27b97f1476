import { expect, test } from 'vitest';
import { anonymousMemoryBytes } from './process-memory.ts';

test.skipIf(process.platform !== 'linux')(
  'anonymousMemoryBytes() leaves out the pages of the program',
  () => {
    const rssBytes = process.memoryUsage.rss();
    expect(anonymousMemoryBytes()).toBeLessThan(rssBytes - 20e6);
    expect(anonymousMemoryBytes()).toBeGreaterThan(process.memoryUsage().heapUsed / 2);
  },
);
