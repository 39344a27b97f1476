import { afterEach, beforeEach, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs.ts';
import { aJob, aTime } from '../../store/conformance/samples.ts';
import { list, snapshotOf } from './read.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
});
afterEach(() => fixture.close());

test('lists the newest 10,000 tasks of a user', async () => {
  const userId = await fixture.createUser(0);
  const last = 10_002;
  for (let number = 1; number <= last; number += 1) {
    const fields = {
      userId,
      number,
      kind: 'get_pc_bulk',
      state: 'completed',
      createdAt: aTime + number,
    } as const;
    await fixture.context.store.jobs.create(aJob({ ...fields, totalUnits: 0, totalBatches: 0 }), []);
  }
  const method = [...fixture.context.jobTypes.methods.values()].find(
    (each) => each.method.name === 'ListGetPcBulk',
  )!;
  const listed = (await list(fixture.context, method, { userId, role: 'user' })) as unknown as {
    tasks: unknown[];
  };
  expect(listed.tasks).toHaveLength(10_000);
});

test('links for the owner need their key, and links for operators none', async () => {
  const file = { path: 'a/b.json', contentType: 'application/json', items: 1, bytes: 2, sha256: '' };
  const asked: boolean[] = [];
  const links = {
    ...fixture.context.links,
    file: async (_job: unknown, _file: unknown, bearer: boolean) => `${asked.push(bearer)}`,
  };
  for (const role of ['user', 'operator'] as const) {
    const { link } = await snapshotOf({ ...fixture.context, links }, aJob(), [], undefined, role);
    await link(file, { bearer: true });
  }
  expect(asked).toEqual([true, false]);
});
