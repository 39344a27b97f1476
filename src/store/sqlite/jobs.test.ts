import { expect, test } from 'vitest';
import { aTime, storeJob } from '../conformance/samples.ts';
import { collect } from '../conformance/stores.ts';
import { openEngine } from './engine.ts';
import { storeOn } from './open.ts';

test('a removal that a crash interrupted is hidden at once and completed, however young the job is', async () => {
  const engine = openEngine(':memory:');
  const store = storeOn(engine);
  const { job, batches } = await storeJob(store, 120, {
    state: 'completed',
    finishedAt: aTime,
    number: 7,
  });
  engine.run(`UPDATE jobs SET state = 'removing' WHERE id = ?`, job.id);
  engine.run('DELETE FROM batches WHERE id = ?', batches[0]!.id);
  expect(await store.jobs.get(job.id)).toBeNull();
  expect(await store.jobs.find({ number: 7 })).toEqual([]);
  expect((await store.jobs.list({}, { limit: 5 })).items).toEqual([]);
  expect(await store.jobs.find({ finishedAt: { below: aTime + 1 } })).toEqual([]);
  await expect(store.jobs.create(job, batches)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await store.jobs.deleteOrphanedBatches(0)).toBe(119);
  expect(await collect(store.batches.read(job.id))).toEqual([]);
  expect(engine.get('SELECT count(*) AS keys FROM unit_keys')).toEqual({ keys: 0 });
  await store.close();
});

test.each([
  [1, 1],
  [50, 2],
  [51, 2],
  [120, 3],
])('a job of %i batches is written in %i transactions', async (count, transactions) => {
  const engine = openEngine(':memory:');
  let begun = 0;
  const write = <T>(step: () => T): T => {
    begun += 1;
    return engine.relaxed.write(step);
  };
  const store = storeOn({ ...engine, relaxed: { ...engine.relaxed, write } });
  const { job, batches } = await storeJob(store, count);
  expect(begun).toBe(transactions);
  expect(await store.jobs.get(job.id)).toEqual(job);
  expect(await collect(store.batches.read(job.id))).toEqual(batches);
  await store.close();
});
