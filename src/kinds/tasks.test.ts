import { expect, test } from 'vitest';
import type { Outcome } from '../store/batches.ts';
import { aBatch, aFailure, aJob, aSuccess } from '../store/conformance/samples.ts';
import type { Job, StoredFile } from '../store/documents.ts';
import type { JobSnapshot } from './kind.ts';
import { taskKind } from './tasks.ts';

const kind = taskKind({ name: 'search_bulk', page: 'search', price: 6 });
const file: StoredFile = { path: 'f', contentType: '', items: 1, bytes: 1, sha256: '' };
const done: Outcome = { ...aSuccess(), file } as Outcome;
const identity = [
  { name: 'list_type', from: 'list_type', numbered: false },
  { name: 'keyword', from: 'keyword', numbered: true },
];

function snapshot(fields: Partial<Job>, outcomes: (Outcome | undefined)[]): JobSnapshot {
  const job = aJob({ params: { identity }, ...fields });
  const units = outcomes.map((outcome, at) => {
    const unit = { key: String(at), input: { list_type: 'search', keyword: `desk lamp ${at}` } };
    return { unit, outcome, batch: aBatch(job, at, [unit]), index: 0 };
  });
  const link: JobSnapshot['link'] = async ({ path }, options) =>
    `${path} ${options?.bearer ? 'with' : 'without'} token`;
  return { job, units, link, itemToken: () => '' };
}

test('retrieve shows every task with its identity and a link that requires the token', async () => {
  const shown = snapshot({ state: 'processing' }, [done, aFailure, undefined]);
  const [first, second, third] = shown.units!.map(({ batch }) => batch.id);
  expect(await kind.views.retrieve!.show(shown)).toEqual({
    jobId: shown.job.id,
    status: 'processing',
    total: 3,
    success: 1,
    failed: 1,
    pending: 1,
    items: [
      {
        taskId: first,
        keyword: 'desk_lamp_0_1',
        listType: 'search',
        status: 'SUCCESS',
        downloadUrl: 'f with token',
      },
      {
        taskId: second,
        keyword: 'desk_lamp_1_2',
        listType: 'search',
        status: 'FAILED',
        error: expect.any(String),
      },
      { taskId: third, keyword: 'desk_lamp_2_3', listType: 'search', status: 'PENDING' },
    ],
  });
});

test.each<[Partial<Job>, (Outcome | undefined)[], string]>([
  [{ state: 'approved' }, [undefined], 'processing'],
  [{ state: 'processing' }, [aFailure, undefined], 'processing'],
  // Refunds precede the terminal status.
  [{ state: 'processing' }, [done, aFailure], 'processing'],
  [{ state: 'settling' }, [done, aFailure], 'processing'],
  [{ state: 'completed', finishedAt: 1 }, [done, done], 'completed'],
  [{ state: 'partial_complete', finishedAt: 1 }, [done, aFailure], 'partial_complete'],
  [{ state: 'failed', finishedAt: 1 }, [aFailure], 'failed'],
])('a job that is %j with %j is %s', async (fields, outcomes, status) => {
  expect(await kind.views.retrieve!.show(snapshot(fields, outcomes))).toMatchObject({ status });
});

test('the response to a submission lists the submitted tasks', async () => {
  const shown = snapshot({ totalUnits: 1, cost: 6 }, [undefined]);
  expect(await kind.submitted(shown)).toEqual({
    jobId: shown.job.id,
    status: 'processing',
    total: 1,
    cost: 6,
    items: [
      {
        taskId: shown.units![0]!.batch.id,
        keyword: 'desk lamp 0',
        listType: 'search',
        status: 'pending',
      },
    ],
  });
});
