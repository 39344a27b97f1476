import { afterAll, describe, expect, test } from 'vitest';
import { findMongo } from '../../../test/engines/mongo.ts';
import {
  loseEach,
  readMongoCommands,
  startCommandLink,
} from '../../../test/support/faults/command-link.ts';
import {
  courseNamed,
  createCourseRunner,
  openCourseFixture,
} from '../../../test/support/jobs/course.ts';
import { openMongoStore } from './open.ts';

const mongo = await findMongo();
afterAll(async () => {
  if (!('missing' in mongo)) await mongo.stop();
});

/** Distance between the commands that are tested. Every command takes minutes. */
const stride = 13;

const tracked = courseNamed('variant sold, tracked');
const cancelled = courseNamed('product pages by CSV, cancelled');

describe.skipIf('missing' in mongo)(
  `commands without a response${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;

    test.each([
      { fault: 'refused', course: tracked },
      { fault: 'lost', course: tracked },
      { fault: 'refused', course: cancelled },
      { fault: 'lost', course: cancelled },
    ] as const)(
      'a job survives any command that is $fault: $course.name',
      async ({ fault, course }) => {
        const url = new URL(mongo.fresh());
        const link = await startCommandLink(Number(url.port), readMongoCommands());
        url.port = String(link.port);
        const fixture = await openCourseFixture(course, openMongoStore({ uri: url.href }));
        await fixture.context.store.ping();
        const last = await loseEach(link, createCourseRunner(fixture, course), {
          fault,
          what: 'command',
          stride,
        });
        expect(last).toBeGreaterThan(60);
        expect(await fixture.problems()).toEqual([]);
        await fixture.close();
        await link.stop();
      },
    );
  },
);
