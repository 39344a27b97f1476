import { afterEach, describe, expect, test } from 'vitest';
import {
  callFaults,
  createCrashingProcess,
  sweptFaults,
} from '../../../test/support/faults/crash.ts';
import {
  courses,
  createCourseRunner,
  openCourseFixture,
} from '../../../test/support/jobs/course.ts';
import type { JobFixture } from '../../../test/support/jobs/jobs.ts';

let fixture: JobFixture;
afterEach(() => fixture.close());

describe.each(courses)('$name', (course) => {
  test.each(course.isConcurrent ? callFaults : sweptFaults)(
    'survives a fault at any call to an engine: %s',
    async (when) => {
      fixture = await openCourseFixture(course);
      const { survives } = createCourseRunner(fixture, course);
      let last = 1;
      while (
        await survives(`call ${last} ${when}`, (alive) => createCrashingProcess(alive, last, when))
      )
        last += 1;
      // Guards against a course that ran only in part.
      expect(last).toBeGreaterThan(10);
      expect(await fixture.problems()).toEqual([]);
    },
  );
});
