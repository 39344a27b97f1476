import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{src,gateway,console,sandbox,test,deploy}/**/*.test.ts'],
    // Suites that start processes and engines take longer than unit tests.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Much of what the suites wait for is time, not work: one file for each core, also on a machine of two.
    maxWorkers: '100%',
  },
});
