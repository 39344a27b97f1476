import { describe, expect, test } from 'vitest';
import { accountConformance } from './conformance/accounts.ts';
import { attemptConformance } from './conformance/attempts.ts';
import { auditLogConformance } from './conformance/audit-log.ts';
import { claimConformance } from './conformance/claims.ts';
import { collectionConformance } from './conformance/collections.ts';
import { createConformance } from './conformance/create.ts';
import { deliveryConformance } from './conformance/deliveries.ts';
import { expiryConformance } from './conformance/expiry.ts';
import { historyConformance } from './conformance/history.ts';
import { dueJobConformance, jobConformance } from './conformance/jobs.ts';
import { keyLimitConformance } from './conformance/key-limits.ts';
import { ledgerConformance } from './conformance/ledger.ts';
import { noticeConformance } from './conformance/notices.ts';
import { originConformance } from './conformance/origins.ts';
import { outcomeConformance } from './conformance/outcomes.ts';
import { progressConformance } from './conformance/progress.ts';
import { retentionConformance } from './conformance/retention.ts';
import { scheduleConformance } from './conformance/schedules.ts';
import { sessionConformance } from './conformance/sessions.ts';
import { stalledConformance } from './conformance/stalled.ts';
import { storedTimeConformance } from './conformance/stored-times.ts';
import { type OpenStores, setUpStores } from './conformance/stores.ts';
import { submissionConformance } from './conformance/submissions.ts';
import { waitConformance } from './conformance/waits.ts';

/** Registers the tests that every store must pass. Each group opens its own empty stores. */
export function storeConformance(open: OpenStores): void {
  describe('engine', () => engineConformance(open));
  describe('collections', () => collectionConformance(open));
  describe('accounts', () => accountConformance(open));
  describe('sessions', () => sessionConformance(open));
  describe('audit log', () => auditLogConformance(open));
  describe('ledger', () => ledgerConformance(open));
  describe('limits of keys', () => keyLimitConformance(open));
  describe('creating jobs', () => createConformance(open));
  describe('jobs', () => jobConformance(open));
  describe('due jobs', () => dueJobConformance(open));
  describe('submissions', () => submissionConformance(open));
  describe('claims', () => claimConformance(open));
  describe('claims without progress', () => attemptConformance(open));
  describe('outcomes', () => outcomeConformance(open));
  describe('progress', () => progressConformance(open));
  describe('stalled batches', () => stalledConformance(open));
  describe('origins', () => originConformance(open));
  describe('waits', () => waitConformance(open));
  describe('stored times', () => storedTimeConformance(open));
  describe('deliveries', () => deliveryConformance(open));
  describe('expiry and erasure', () => expiryConformance(open));
  describe('retention', () => retentionConformance(open));
  describe('notices', () => noticeConformance(open));
  describe('schedules', () => scheduleConformance(open));
  describe('histories', () => historyConformance(open));
}

/** The engine: version of the schema, and time. */
function engineConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('the schema of new data has a version, which every process sees', async () => {
    const [version, other] = await Promise.all([
      stores.store.schemaVersion(),
      stores.other.schemaVersion(),
    ]);
    expect(version).toBeGreaterThan(0);
    expect(other).toBe(version);
  });

  test('the database has the id of one installation, which every process sees', async () => {
    const ids = await Promise.all([stores.store.installationId(), stores.other.installationId()]);
    expect(new Set([...ids, await stores.store.installationId()]).size).toBe(1);
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('ping() returns the time of the engine, the same for every process', async () => {
    const before = Date.now();
    const [time, other] = [await stores.store.ping(), await stores.other.ping()];
    // Engines return whole milliseconds, and some a cached clock.
    expect(time).toBeGreaterThan(before - 1_000);
    expect(other).toBeGreaterThanOrEqual(time);
    expect(other).toBeLessThan(Date.now() + 1_000);
  });
}
