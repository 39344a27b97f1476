import { describe } from 'vitest';
import { accountContract } from './contract/accounts.ts';
import { attemptContract } from './contract/attempts.ts';
import { auditLogContract } from './contract/audit-log.ts';
import { claimContract } from './contract/claims.ts';
import { crawlContract } from './contract/crawls.ts';
import { createContract } from './contract/create.ts';
import { driftContract } from './contract/drift.ts';
import { jobContract } from './contract/jobs.ts';
import { keyLimitContract } from './contract/key-limits.ts';
import { ledgerContract } from './contract/ledger.ts';
import { noticeContract } from './contract/notices.ts';
import { operationsContract } from './contract/operations.ts';
import { originContract } from './contract/origins.ts';
import { outcomeContract } from './contract/outcomes.ts';
import { progressContract } from './contract/progress.ts';
import { retentionContract } from './contract/retention.ts';
import { schemaContract } from './contract/schema.ts';
import { sessionContract } from './contract/sessions.ts';
import { stalledContract } from './contract/stalled.ts';
import type { OpenStores } from './contract/stores.ts';
import { submissionContract } from './contract/submissions.ts';
import { waitContract } from './contract/waits.ts';

/** Registers the tests that every store must pass. Each group opens its own empty stores. */
export function storeContract(open: OpenStores): void {
  describe('schema', () => schemaContract(open));
  describe('accounts', () => accountContract(open));
  describe('sessions', () => sessionContract(open));
  describe('audit log', () => auditLogContract(open));
  describe('ledger', () => ledgerContract(open));
  describe('limits of keys', () => keyLimitContract(open));
  describe('creating jobs', () => createContract(open));
  describe('jobs', () => jobContract(open));
  describe('submissions', () => submissionContract(open));
  describe('claims', () => claimContract(open));
  describe('claims without progress', () => attemptContract(open));
  describe('outcomes', () => outcomeContract(open));
  describe('progress', () => progressContract(open));
  describe('stalled batches', () => stalledContract(open));
  describe('origins', () => originContract(open));
  describe('waits', () => waitContract(open));
  describe('retention', () => retentionContract(open));
  describe('recent crawls', () => crawlContract(open));
  describe('operations', () => operationsContract(open));
  describe('drift', () => driftContract(open));
  describe('notices', () => noticeContract(open));
}
