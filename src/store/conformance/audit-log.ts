import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { type AuditEntry, type AuditFilter, listAuditEntries } from '../audit-log.ts';
import { aTime } from './samples.ts';
import { type OpenStores, setUpStores } from './stores.ts';

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

/** Log of actions. */
export function auditLogConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('lists entries by actor, target, action, and time, newest first', async () => {
    const [actorId, target] = [newId(), newId()];
    const [both, byActor, about] = [
      anEntry({ actorId, target }),
      anEntry({ actorId, createdAt: aTime + 1, action: 'RejectJob' }),
      anEntry({ target, createdAt: aTime + 2 }),
    ];
    for (const entry of [both, byActor, about]) await stores.store.auditLog.insert(entry);
    const list = async (filter: AuditFilter) =>
      (await listAuditEntries(stores.other, filter, { limit: 10 })).items;
    expect(await list({ actorId })).toEqual([byActor, both]);
    expect(await list({ target })).toEqual([about, both]);
    expect(await list({ actorId, target })).toEqual([both]);
    expect(await list({ actorId, action: 'RejectJob' })).toEqual([byActor]);
    expect(await list({ actorId, outcome: 'invalid' })).toEqual([]);
    expect(await list({ since: aTime + 1, until: aTime + 2 })).toEqual([byActor]);
    expect(await list({ until: aTime + 1 })).toEqual([both]);
    expect(await list({})).toEqual([about, byActor, both]);
  });
}
