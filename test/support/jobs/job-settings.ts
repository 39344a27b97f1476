import type { JobSettings } from '../../../src/jobs/context.ts';

/** Settings of jobs: operators approve them at any time, and nothing is deleted. */
export const jobSettings: JobSettings = {
  approval: true,
  workingHours: null,
  jobWindow: 16,
  prices: new Map(),
  recentCrawlMs: 86_400_000,
  reusedPricePercent: 50,
  keptPageBytes: 1024 ** 3,
  version: '0.0.0',
  sandbox: true,
  origins: new Map(),
  effectiveSettings: [],
  mongoUri: null,
  backupTo: null,
  publicUrl: null,
  notices: { operatorWebhook: null, email: null, privateWebhooks: false },
  retention: {
    resultsMs: null,
    jobsMs: null,
    deliveriesMs: null,
    auditLogMs: null,
    historyMs: null,
  },
};
