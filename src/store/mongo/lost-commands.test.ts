import { afterAll, describe, expect, test } from 'vitest';
import { findMongo } from '../../../test/engines/mongo.ts';
import { readMongoCommands, startCommandLink } from '../../../test/support/command-link.ts';
import { courses, createCourseRunner } from '../../../test/support/course.ts';
import { openJobFixture } from '../../../test/support/jobs.ts';
import { openMongoStore } from './open.ts';

const mongo = await findMongo();
afterAll(async () => {
  if (!('missing' in mongo)) await mongo.stop();
});

/** Distance between the commands that are tested. Every command takes minutes. */
const stride = 13;

const [tracked, cancelled] = ['variant sold, tracked', 'product pages by CSV, cancelled'].map(
  (wanted) => courses.find(({ name }) => name === wanted)!,
);

describe.skipIf('missing' in mongo)(
  `commands without a response${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;

    test.each([
      { fault: 'refused', course: tracked! },
      { fault: 'lost', course: tracked! },
      { fault: 'refused', course: cancelled! },
      { fault: 'lost', course: cancelled! },
    ] as const)('a job survives any command that is $fault: $course.name', async ({ fault, course }) => {
      const url = new URL(mongo.fresh());
      const link = await startCommandLink(Number(url.port), readMongoCommands());
      url.port = String(link.port);
      const fixture = await openJobFixture({ approval: course.approval }, openMongoStore({ uri: url.href }));
      await fixture.context.store.ping();
      const { survives } = createCourseRunner(fixture, course);
      const never = new Promise<never>(() => {});
      let last = 1;
      const createVictim = (context: typeof fixture.context) => {
        link.failAt(last, fault);
        return {
          context,
          crashed: never,
          isCrashed: () => link.failedAt() !== null,
          crashedAt: () => link.failedAt() ?? '',
        };
      };
      while (await survives(`command ${last} ${fault}`, createVictim)) last += stride;
      expect(last).toBeGreaterThan(60);
      expect(await fixture.problems()).toEqual([]);
      await fixture.close();
      await link.stop();
    });
  },
);
