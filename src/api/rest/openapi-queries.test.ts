import { expect, test } from 'vitest';
import { openApiDocument } from '../../../deploy/openapi-document.ts';
import { faultCodes } from '../../contract/fault.ts';
import { jobTypes, knownMarkets } from '../../contract/job-types.ts';
import { exportFormats } from '../../present/export-formats.ts';

const document = await openApiDocument();

function parameter(path: string, name: string) {
  const { parameters = [] } = document.paths[path]!.get!;
  return parameters.find((each) => each.name === name && each.in === 'query');
}

const formats = exportFormats.map(({ format }) => format);

test('requires the format of an export, and not that of results', () => {
  expect(parameter('/v1/jobs/{job_id}/export', 'format')).toMatchObject({ required: true });
  expect(parameter('/v1/jobs/{job_id}/results', 'format')).not.toHaveProperty('required');
  for (const path of [
    '/v1/jobs/{job_id}/export',
    '/v1/jobs/{job_id}/results',
    '/v1/files/{job_id}/{name}',
  ])
    expect(new Set(parameter(path, 'format')!.schema!.enum)).toEqual(new Set(formats));
});

test('lists every kind, marketplace, and fault code that filters accept', () => {
  const kinds = new Set(jobTypes.map(({ kind }) => kind));
  expect(new Set(parameter('/v1/jobs', 'kind')!.schema!.enum)).toEqual(kinds);
  for (const path of ['/v1/jobs', '/v1/history'])
    expect(parameter(path, 'market')!.schema!.enum).toEqual(knownMarkets);
  const codes = parameter('/v1/jobs/{job_id}/units', 'code')!.schema!.enum;
  expect(codes).toEqual(Object.keys(faultCodes));
});

test('lists the statuses of a reread, which is a submit', () => {
  const { responses } = document.paths['/v1/jobs/{job_id}/reread']!.post as unknown as {
    responses: object;
  };
  expect(Object.keys(responses)).toEqual(
    expect.arrayContaining(['200', '202', '400', '401', '402', '403', '404', '409', '422', '429']),
  );
});
