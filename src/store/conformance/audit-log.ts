import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { AuditEntry } from '../audit-log.ts';
import { aTime } from './samples.ts';
import { allPages, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

const anEntry = (fields: Partial<AuditEntry> = {}): AuditEntry => ({
  id: newId(),
  createdAt: aTime,
  actorId: newId(),
  role: 'operator',
  keyId: newId(),
  action: 'ApproveJob',
  target: newId(),
  detail: '{"job_id":"x","$set":"雪"}',
  source: '203.0.113.7, 10.0.0.2',
  outcome: 'ok',
  ...fields,
});

/** Append-only log of actions. */
export function auditLogConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const append = async (entries: readonly AuditEntry[]) => {
    for (const entry of entries) await stores.store.appendAuditEntry(entry);
  };

  test('lists entries as they were appended, newest first, page after page', async () => {
    const actorId = newId();
    const entries = [2, 3, 1, 3].map((turn) => anEntry({ actorId, createdAt: aTime + turn }));
    await append(entries);
    const listed = await allPages(2, (page) => stores.other.listAuditEntries({ actorId }, page));
    expect(listed.map(({ createdAt }) => createdAt - aTime)).toEqual([3, 3, 2, 1]);
    expect(new Set(listed)).toEqual(new Set(entries));
  });

  test('filters by actor and by target', async () => {
    const [actorId, target] = [newId(), newId()];
    const [both, byActor, about] = [
      anEntry({ actorId, target }),
      anEntry({ actorId, createdAt: aTime + 1 }),
      anEntry({ target, createdAt: aTime + 2 }),
    ];
    await append([both, byActor, about]);
    const list = async (filter: { actorId?: string; target?: string }) =>
      (await stores.store.listAuditEntries(filter, { limit: 10 })).items;
    expect(await list({ actorId })).toEqual([byActor, both]);
    expect(await list({ target })).toEqual([about, both]);
    expect(await list({ actorId, target })).toEqual([both]);
    expect(await list({ actorId: newId() })).toEqual([]);
    expect(await list({})).toEqual(expect.arrayContaining([both, byActor, about]));
  });

  test('keeps every entry of concurrent writers', async () => {
    const target = newId();
    await runConcurrently(20, stores, (store) => store.appendAuditEntry(anEntry({ target })));
    expect((await stores.store.listAuditEntries({ target }, { limit: 50 })).items).toHaveLength(20);
  });

  test('deletes old entries', async () => {
    const actorId = newId();
    await append([1, 2].map((turn) => anEntry({ actorId, createdAt: aTime - 10_000 + turn })));
    expect(await stores.store.expire({ auditLog: aTime - 9_998 })).toBe(1);
    expect((await stores.store.listAuditEntries({ actorId }, { limit: 5 })).items).toHaveLength(1);
  });
}
