import { expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { type TestUser, variantSold, watchJob } from '../support/service/api.ts';
import { brokenRule } from '../support/service/hold.ts';
import type { Place } from './place.ts';

const workMs = 45_000;
const items = plainIds(3).map((id) => ({ item_id: String(id), shop_id: '77' }));

/** Defines the cases about held jobs. Jobs start without approval. */
export function holdCases(at: () => Place): void {
  const run = async (user: TestUser, query = ''): Promise<string> => {
    const { api } = at();
    const { status, body } = await api.post(user, variantSold.submit + query, {
      country: 'sg',
      items,
    });
    expect(status).toBe(202);
    await watchJob(api, user, body.job_id, workMs);
    return body.job_id;
  };
  const decide = (user: TestUser, jobId: string, query = '') =>
    at().api.post(user, `/v1/jobs/${jobId}/release${query}`, {});

  test.each([
    ['released', '', '?discard=true'],
    ['discarded', '?discard=true', ''],
  ])(
    'a held job is %s once, and the other decision is a conflict',
    async (state, query, otherQuery) => {
      const { api } = at();
      const user = await api.createUser(100);
      const hold = await brokenRule(api, user, await run(user));
      const jobId = await run(user, `?hold=${encodeURIComponent(hold)}`);
      const held = (await api.get(user, `/v1/jobs/${jobId}`)).body;
      expect(held).toMatchObject({
        status: 'completed',
        hold: { state: 'held', reasons: [{ field: hold.slice(0, -4), minimum: 100 }] },
      });
      // Concurrently, as the owner's page and program may do.
      const responses = await Promise.all([1, 2, 3].map(() => decide(user, jobId, query)));
      for (const { status, body } of responses)
        expect([status, body]).toEqual([
          200,
          {
            ...held,
            hold: { ...held.hold, state, decided_at: responses[0]!.body.hold.decided_at },
          },
        ]);
      expect((await decide(user, jobId, otherQuery)).status).toBe(409);
      expect((await api.get(user, `/v1/jobs/${jobId}`)).body).toEqual(responses[0]!.body);
    },
  );
}
