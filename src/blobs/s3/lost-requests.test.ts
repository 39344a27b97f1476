import { afterAll, describe, expect, test } from 'vitest';
import { shareEngine } from '../../../test/engines/share.ts';
import {
  loseEach,
  readS3Commands,
  startCommandLink,
} from '../../../test/support/faults/command-link.ts';
import {
  courseNamed,
  createCourseRunner,
  openCourseFixture,
} from '../../../test/support/jobs/course.ts';
import type { JobFixture } from '../../../test/support/jobs/jobs.ts';
import { openS3 } from './open.ts';

const storage = await shareEngine('s3');
const ended: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ended) await end();
});

/** The client sends a request up to three times. */
const attempts = 3;

const tracked = courseNamed('variant sold, tracked');
const reused = courseNamed('merchant items, reusing files');

describe.skipIf('missing' in storage)(
  `requests without a response${'missing' in storage ? ` (${storage.missing})` : ''}`,
  () => {
    if ('missing' in storage) return;

    test.each([
      { fault: 'refused', course: tracked },
      { fault: 'lost', course: tracked },
      { fault: 'lost', course: reused },
    ] as const)(
      'a job survives any request to S3 that is $fault: $course.name',
      async ({ fault, course }) => {
        const url = new URL(storage.address);
        const link = await startCommandLink(Number(url.port), readS3Commands);
        url.port = String(link.port);
        const opened = await openCourseFixture(course);
        const blobs = openS3({ url: url.href });
        const fixture: JobFixture = { ...opened, context: { ...opened.context, blobs } };
        ended.push(() => blobs.close(), opened.close, link.stop);
        const last = await loseEach(link, createCourseRunner(fixture, course), {
          fault,
          what: 'request',
          times: attempts,
        });
        expect(last).toBeGreaterThan(3);
        expect(await opened.problems()).toEqual([]);
      },
    );
  },
);
