import type { DescMethod } from '@bufbuild/protobuf';
import { having, link, text, uuid } from '../matchers.ts';
import type { Case, Endpoint, FieldRule } from '../table.ts';

/** Shared parts of the bulk endpoints: request and response shapes. */
export interface BulkSubmit {
  path: string;
  method: DescMethod;
  price: number;
  most: number;
  fields: Readonly<Record<string, FieldRule>>;
  /** Items of the valid request. */
  items: readonly unknown[];
  /** Keys of the response in addition to the common ones. */
  beside?: Readonly<Record<string, unknown>>;
  more?: readonly Case[];
}

/** Creates the submit endpoint of a bulk kind. */
export function bulkSubmit({
  path,
  method,
  price,
  most,
  fields,
  items,
  beside,
  more = [],
}: BulkSubmit): Endpoint {
  const good: Case = {
    title: `${items.length} items`,
    body: { items },
    status: 202,
    response: {
      job_id: uuid,
      status: 'processing',
      total: items.length,
      cost: items.length * price,
      message: null,
      ...beside,
    },
  };
  return {
    verb: 'POST',
    path,
    method,
    submit: { takes: 'items', most, price, fields },
    cases: [good, ...more],
  };
}

/** Creates a case with an invalid field in the first item. */
export function refusedItem(title: string, item: unknown, field: string, type: string): Case {
  return {
    title,
    body: { items: [item] },
    status: 422,
    problems: [[['body', 'items', 0, field], type]],
  };
}

interface Retrieve {
  path: string;
  method: DescMethod;
  /** A prepared job of another kind. */
  foreign: string;
}

type Tally = readonly [status: string, total: number, success: number, failed: number];

/**
 * Creates the retrieve endpoint of a kind with one result file. `jobs` maps prepared jobs to their
 * outcomes.
 */
export function fileRetrieve(
  { path, method, foreign }: Retrieve,
  jobs: Readonly<Record<string, Tally>>,
  file: string,
  responseHeaders: Readonly<Record<string, unknown>> = {},
): Endpoint {
  const cases = Object.entries(jobs).map(([job, [status, total, success, failed]]) => ({
    title: job,
    params: { job_id: `{${job}}` },
    status: 200,
    response: {
      job_id: uuid,
      status,
      total,
      success,
      failed,
      pending: 0,
      progress: 1,
      download_url: success > 0 ? link(file) : null,
      message: null,
      ...(failed > 0 ? { errors: new Array(failed).fill(having({ error: text })) } : {}),
    },
    responseHeaders,
  }));
  return {
    verb: 'GET',
    path,
    method,
    names: { param: 'job_id', id: 'uuid', foreign },
    cases: cases as unknown as [Case, ...Case[]],
  };
}

/** A task in a retrieve response: its identity, and whether it has a file. */
export type TaskRow = readonly [identity: Readonly<Record<string, unknown>>, done: boolean];

function statusOf(success: number, failed: number): string {
  if (failed === 0) return 'completed';
  return success === 0 ? 'failed' : 'partial_complete';
}

/** Creates the retrieve endpoint of a kind with one file per task. */
export function tasksRetrieve(
  { path, method, foreign }: Retrieve,
  jobs: Readonly<Record<string, readonly TaskRow[]>>,
  file: string,
): Endpoint {
  const cases = Object.entries(jobs).map(([job, tasks]) => {
    const success = tasks.filter(([, done]) => done).length;
    const failed = tasks.length - success;
    return {
      title: job,
      params: { job_id: `{${job}}` },
      status: 200,
      response: {
        job_id: uuid,
        status: statusOf(success, failed),
        total: tasks.length,
        success,
        failed,
        pending: 0,
        items: tasks.map(([identity, done]) => ({
          task_id: uuid,
          ...identity,
          ...(done
            ? { status: 'SUCCESS', download_url: link(file) }
            : { status: 'FAILED', download_url: null, error: text }),
        })),
      },
    };
  });
  return {
    verb: 'GET',
    path,
    method,
    names: { param: 'job_id', id: 'uuid', foreign },
    cases: cases as unknown as [Case, ...Case[]],
  };
}
