import type { DescMethod } from '@bufbuild/protobuf';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { aSchedule } from '../bodies.ts';
import { errorResponse } from '../errors.ts';
import { having, like, text, uuid } from '../matchers.ts';
import { createPageCases, pageCases, refusedQuery } from '../pages.ts';
import type { Case, Endpoint, Marketplace, Verb } from '../table.ts';

const rpc = ScheduleService.method;
const path = '/v1/schedules';
const id = { schedule_id: '{schedule}' };
const time = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, 'time');

const shown = {
  market: 'mktd',
  kind: 'pdp_bulk',
  cron: '0 8 29 2 *',
  time_zone: 'Europe/Berlin',
  units: 1,
  overlap: 'skip',
  missed: 'run_once',
  state: 'active',
  reason: '',
  cost_per_run: 5,
  failures: 0,
};
const schedule = having({
  ...shown,
  schedule_id: uuid,
  request: aSchedule.request,
  next_run_at: time,
});
const refused = (title: string, change: object, ...problems: [string[], string][]): Case => ({
  title,
  body: { ...aSchedule, ...change },
  status: 422,
  problems: problems.map(([loc, type]) => [['body', ...loc], type]),
});

const one = (
  verb: Verb,
  place: string,
  method: DescMethod,
  ...cases: Endpoint['cases']
): Endpoint => ({
  verb,
  path: `${path}/{schedule_id}${place}`,
  method,
  cases,
  names: { param: 'schedule_id', id: 'uuid' },
  ...(place === '' ? { verbs: ['GET', 'PATCH', 'DELETE'] } : {}),
});

/** Schedules: 10 endpoints. The schedule of the stage stays active. */
export const schedules: Marketplace = {
  name: 'schedules',
  jobs: {},
  endpoints: [
    {
      verb: 'POST',
      path,
      verbs: ['POST', 'GET'],
      method: rpc.createSchedule,
      cases: [
        // The caller of one case reaches no limit with three schedules.
        { title: 'a schedule', caller: 'other', body: aSchedule, status: 201, response: schedule },
        refused('another market', { market: 'mktz' }, [['market'], 'enum']),
        refused('a kind of another market', { kind: 'variant_sold' }, [['kind'], 'enum']),
        refused('an invalid expression', { cron: '61 * * * *' }, [['cron'], 'value_error']),
        refused('an unknown time zone', { time_zone: 'Mars/Olympus' }, [
          ['time_zone'],
          'value_error',
        ]),
        refused('an end without a run', { end_at: '2020-01-01T00:00:00Z' }, [
          ['end_at'],
          'value_error',
        ]),
        refused('an unknown rule', { overlap: 'wait' }, [['overlap'], 'enum']),
        refused(
          'options that the submit of a run would refuse',
          { options: { deliver_to: 'nowhere', hold: 'colour:95', only: 'changed' } },
          [['options', 'hold'], 'value_error'],
          [['options', 'only'], 'value_error'],
          [['options', 'deliver_to'], 'value_error'],
        ),
        refused('an invalid option', { options: { max_age: '6 hours' } }, [
          ['options', 'max_age'],
          'string_pattern_mismatch',
        ]),
        refused('a limit below the cost', { max_total_credits: 4 }, [
          ['max_total_credits'],
          'value_error',
        ]),
        refused(
          'a request with invalid items',
          { request: { items: [{ country: 'id' }, { product_id: '1', country: 'xx' }] } },
          [['request', 'items', 0, 'product_id'] as unknown as string[], 'missing'],
          [['request', 'items', 1, 'country'] as unknown as string[], 'enum'],
        ),
        {
          ...refused('a request that is no object', { request: [] }, [
            ['request'],
            'model_attributes_type',
          ]),
          restOnly: true,
        },
      ],
    },
    {
      verb: 'GET',
      path,
      verbs: ['POST', 'GET'],
      method: rpc.listSchedules,
      cases: [
        {
          title: 'the schedules of the caller, without requests',
          status: 200,
          response: { schedules: [having({ ...shown, schedule_id: uuid })], next_page_token: '' },
        },
        {
          title: 'none',
          caller: 'poor',
          status: 200,
          response: { schedules: [], next_page_token: '' },
        },
        {
          title: 'in another state',
          params: { state: 'paused' },
          status: 200,
          response: having({ schedules: [] }),
        },
        refusedQuery('state', 'waiting', 'enum'),
        ...pageCases,
      ],
    },
    {
      verb: 'GET',
      path: '/v1/schedule-times',
      method: rpc.previewSchedule,
      cases: [
        {
          title: 'the next leap days',
          params: { cron: '0 8 29 2 *', start_at: '2031-01-01T00:00:00Z', count: '2' },
          status: 200,
          response: { times: ['2032-02-29T08:00:00.000Z', '2036-02-29T08:00:00.000Z'] },
        },
        refusedQuery('cron', 'daily', 'value_error'),
        refusedQuery('time_zone', 'Mars', 'value_error', { params: { cron: '@daily' } }),
      ],
    },
    one('GET', '', rpc.getSchedule, {
      title: 'a schedule',
      params: id,
      status: 200,
      response: schedule,
    }),
    one(
      'PATCH',
      '',
      rpc.updateSchedule,
      {
        title: 'a limit',
        params: id,
        body: { max_total_credits: 900 },
        status: 200,
        response: schedule,
      },
      {
        title: 'no limit',
        params: id,
        body: { clear: ['max_total_credits'] },
        status: 200,
        response: schedule,
      },
      {
        title: 'an unknown destination',
        params: id,
        body: { options: { deliver_to: 'nowhere' } },
        status: 422,
        problems: [[['body', 'options', 'deliver_to'], 'value_error']],
      },
      {
        title: 'an invalid expression',
        params: id,
        body: { cron: 'x' },
        status: 422,
        problems: [[['body', 'cron'], 'value_error']],
      },
    ),
    one('DELETE', '', rpc.deleteSchedule, {
      title: 'a schedule that was deleted',
      params: { schedule_id: '00000000-0000-4000-8000-000000000001' },
      status: 404,
      response: errorResponse,
    }),
    one('POST', '/pause', rpc.pauseSchedule, {
      title: 'a schedule',
      params: id,
      status: 200,
      response: having({ schedule_id: uuid, state: 'paused', reason: text }),
    }),
    one('POST', '/resume', rpc.resumeSchedule, {
      title: 'a schedule',
      params: id,
      status: 200,
      response: schedule,
    }),
    one('POST', '/run', rpc.runSchedule, {
      title: 'a run, at first or while the last one runs',
      params: id,
      status: 200,
      response: having({ schedule_id: uuid, run_id: uuid, trigger: 'manual', started_at: time }),
    }),
    one(
      'GET',
      '/runs',
      rpc.listScheduleRuns,
      {
        title: 'the runs',
        params: id,
        status: 200,
        response: having({ next_page_token: '' }),
      },
      ...createPageCases(id),
    ),
  ],
};
