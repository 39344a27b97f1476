import { defineConfig } from 'vitest/config';

/**
 * Suites that run against each mutant: the tests beside the code and its callers. Suites that start
 * processes, engines, or browsers would take minutes per mutant.
 */
export default defineConfig({
  test: {
    include: ['{src/{credits,jobs,kinds,links,rpc,sweep,worker,store},gateway}/**/*.test.ts'],
    exclude: ['src/store/mongo/**', 'src/jobs/steps/crash.test.ts'],
    testTimeout: 60_000,
    pool: 'threads',
  },
});
