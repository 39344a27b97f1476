import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { quotaCase, quoteCases } from '../bodies.ts';
import { errorResponse } from '../errors.ts';
import { having, link, matching, positive, text } from '../matchers.ts';
import type { Case, Endpoint, FieldRule, Prepared, Request } from '../table.ts';

const rpc = MktaService.method;
const regions = ['id', 'sg', 'th', 'ph', 'my', 'vn', 'tw', 'br'];
const id: FieldRule = { is: 'id', digits: true };
const one = { region: 'th', item_id: '42000000001', shop_id: '7200' };

const csv = (...rows: string[]) => ({ file: ['region,shop_id,item_id', ...rows, ''].join('\n') });
const rows = ['sg,7200,42000000002', 'br,7200,42000000003', 'id,7200,42000000800'];

/** Prepared tasks of product pages. */
export const jobs: Record<string, Prepared> = {
  'page done': { submit: '/v1/mkta/get_pc/submit', body: one, ends: true },
  'page gone': {
    submit: '/v1/mkta/get_pc/submit',
    body: { ...one, item_id: '42000000800' },
    ends: true,
  },
  'rows done': { submit: '/v1/mkta/get_pc_bulk/submit', form: { file: csv(...rows) }, ends: true },
  'rows gone': {
    submit: '/v1/mkta/get_pc_bulk/submit',
    form: { file: csv('sg,7200,42000001800'), result_format: 'jsonl' },
    ends: true,
  },
};

const submitOne: Endpoint = {
  verb: 'POST',
  path: '/v1/mkta/get_pc/submit',
  method: rpc.submitGetPc,
  submit: {
    takes: 'one',
    price: 8,
    fields: { region: { is: 'choice', of: regions, absent: 'us' }, item_id: id, shop_id: id },
  },
  cases: [
    {
      title: 'one item',
      body: one,
      status: 202,
      response: { task_id: positive, status: 'pending', cost: 8, ...one },
    },
    {
      title: 'integer ids are converted to strings',
      body: { ...one, item_id: 42_000_000_001, shop_id: 7200 },
      status: 202,
      response: { task_id: positive, status: 'pending', cost: 8, ...one },
      restOnly: true,
    },
    {
      title: 'all problems are listed',
      body: { region: 'SG', shop_id: [] },
      status: 422,
      problems: [
        [['body', 'region'], 'enum'],
        [['body', 'item_id'], 'missing'],
        [['body', 'shop_id'], 'string_type'],
      ],
      restOnly: true,
    },
    {
      title: 'a float that is a whole number',
      raw: {
        type: 'application/json',
        bytes: '{"region":"th","item_id":42000000001.0,"shop_id":"7200"}',
      },
      status: 422,
      problems: [[['body', 'item_id'], 'string_type']],
      restOnly: true,
    },
  ],
};

const retrieveOne: Endpoint = {
  verb: 'GET',
  path: '/v1/mkta/get_pc/retrieve/{task_id}',
  method: rpc.retrieveGetPc,
  names: { param: 'task_id', id: 'integer', foreign: '{rows done}' },
  cases: [
    {
      title: 'a task with its page',
      params: { task_id: '{page done}' },
      status: 200,
      response: {
        task_id: positive,
        status: 'completed',
        result: having({
          collected_at: positive,
          data: having({ item: having({ item_id: 42_000_000_001 }) }),
        }),
        refunded: 0,
        detail: null,
      },
    },
    {
      title: 'a task that failed has no result',
      params: { task_id: '{page gone}' },
      status: 200,
      response: { task_id: positive, status: 'failed', refunded: 8, detail: text },
    },
  ],
};

const submitted = {
  task_id: positive,
  status: 'processing',
  total: 3,
  cost: 24,
  result_format: 'csv',
  rescrape: false,
};

const refusedForm = (
  title: string,
  form: Request['form'],
  problems: NonNullable<Case['problems']>,
): Case => ({
  title,
  form: form!,
  status: 422,
  problems,
  restOnly: true,
});

const submitRows: Endpoint = {
  verb: 'POST',
  path: '/v1/mkta/get_pc_bulk/submit',
  method: rpc.submitGetPcBulk,
  submit: { takes: 'form', price: 8 },
  cases: [
    { title: 'a file alone', form: { file: csv(...rows) }, status: 202, response: submitted },
    {
      title: 'the other format, with rescrape',
      form: { file: csv(...rows), rescrape: 'true', result_format: 'jsonl' },
      status: 202,
      response: { ...submitted, rescrape: true, result_format: 'jsonl' },
    },
    quotaCase('with too few credits', { form: { file: csv(...rows) } }, 24),
    ...quoteCases({ title: '', form: { file: csv(...rows) }, status: 202 }, 24),
    refusedForm('no file', { rescrape: 'false' }, [[['body', 'file'], 'missing']]),
    refusedForm('a file sent as text', { file: 'region,shop_id,item_id\n' }, [
      [['body', 'file'], 'value_error'],
    ]),
    refusedForm('no truth', { file: csv(...rows), rescrape: 'maybe' }, [
      [['body', 'rescrape'], 'bool_parsing'],
    ]),
    refusedForm('no format', { file: csv(...rows), result_format: 'xml' }, [
      [['body', 'result_format'], 'enum'],
    ]),
    refusedForm('an empty file', { file: { file: '' } }, [[['body', 'file'], 'bytes_too_short']]),
    {
      ...refusedForm(
        'invalid rows',
        { file: csv('sg,7200,', 'xx,7200,42000000001', 'sg,,42000000001') },
        [
          [['body', 'file', 1, 'item_id'], 'missing'],
          [['body', 'file', 2, 'region'], 'enum'],
          [['body', 'file', 3, 'shop_id'], 'missing'],
        ],
      ),
      restOnly: false,
    },
    {
      title: 'a JSON body',
      body: { file: 'region,shop_id,item_id' },
      status: 415,
      response: errorResponse,
      restOnly: true,
    },
    {
      title: 'a truncated form',
      raw: {
        type: 'multipart/form-data; boundary=x',
        bytes: '--x\r\ncontent-disposition: form-data; name="fi',
      },
      status: 400,
      response: errorResponse,
      restOnly: true,
    },
  ],
};

const listRows: Endpoint = {
  verb: 'GET',
  path: '/v1/mkta/get_pc_bulk/tasks',
  method: rpc.listGetPcBulk,
  cases: [
    {
      title: 'the tasks, newest first',
      status: 200,
      response: {
        tasks: matching('integers in descending order', (value) => {
          const tasks = value as number[];
          return tasks.length >= 2 && tasks.every((task, at) => at === 0 || task < tasks[at - 1]!);
        }),
      },
    },
    {
      title: 'the tasks of a user who has none',
      caller: 'other',
      status: 200,
      response: { tasks: [] },
    },
  ],
};

const progress = { task_id: positive, pending: 0, progress: 1, message: null };

const retrieveRows: Endpoint = {
  verb: 'GET',
  path: '/v1/mkta/get_pc_bulk/retrieve/{task_id}',
  method: rpc.retrieveGetPcBulk,
  names: { param: 'task_id', id: 'integer', foreign: '{page done}' },
  cases: [
    {
      title: 'a task with a failed row',
      params: { task_id: '{rows done}' },
      status: 200,
      response: {
        ...progress,
        status: 'partial_complete',
        total: 3,
        success: 2,
        failed: 1,
        refunded: 8,
        download_url: link('get_pc_bulk_*.csv'),
      },
    },
    {
      title: 'a task with only failed rows has a file',
      params: { task_id: '{rows gone}' },
      status: 200,
      response: {
        ...progress,
        status: 'failed',
        total: 1,
        success: 0,
        failed: 1,
        refunded: 8,
        download_url: link('get_pc_bulk_*.jsonl'),
      },
    },
  ],
};

const terminateRows: Endpoint = {
  verb: 'POST',
  path: '/v1/mkta/get_pc_bulk/terminate/{task_id}',
  method: rpc.terminateGetPcBulk,
  names: { param: 'task_id', id: 'integer', foreign: '{page done}' },
  cases: [
    {
      title: 'a task that has ended',
      params: { task_id: '{rows done}' },
      status: 409,
      response: errorResponse,
    },
  ],
};

/** Endpoints 5 to 10 of marketplace A. */
export const endpoints: readonly Endpoint[] = [
  submitOne,
  retrieveOne,
  submitRows,
  listRows,
  terminateRows,
  retrieveRows,
];
