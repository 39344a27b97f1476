import { describe, expect, test } from 'vitest';
import {
  defaultPath,
  expandPath,
  pathVariables,
  problemOfPath,
  problemOfPrefix,
} from './path-template.ts';

const values = {
  market: 'mkta',
  kind: 'variant_sold',
  region: 'sg',
  status: 'completed',
  jobId: '5b1f0b86-4c0e-4d55-9d5f-2f4a3f4a8f10',
  endedAt: Date.UTC(2030, 0, 7, 4, 12, 30),
  ext: 'jsonl',
};

describe('problemOfPath()', () => {
  test.each([
    defaultPath,
    '{job_id}',
    'daily/{year}-{month}-{day}/{region}.{status}/dt={date}/{time}_{job_id}.{ext}',
  ])('accepts %s', (path) => {
    expect(problemOfPath(path)).toBeNull();
  });

  test.each([
    ['{market}/{date}.{ext}', 'The path must contain {job_id}'],
    ['', 'The path must contain {job_id}'],
    ['{job}/{job_id}', '{job} is not a variable. Use {market}, {kind}'],
    ['{}/{job_id}', '{} is not a variable'],
    ['{toString}/{job_id}', '{toString} is not a variable'],
    ['/{job_id}', 'must not begin or end with a slash'],
    ['{job_id}/', 'must not begin or end with a slash'],
    ['a//{job_id}', 'two in a row'],
    ['../{job_id}', 'a segment of dots only'],
    ['a/./{job_id}', 'a segment of dots only'],
    ['a/.../{job_id}', 'a segment of dots only'],
    ['%2e%2e/{job_id}', 'Use letters, digits'],
    ['a\\..\\{job_id}', 'Use letters, digits'],
    ['a b/{job_id}', 'Use letters, digits'],
    ['{job_id}?x', 'Use letters, digits'],
    ['{job_id', 'The path must contain {job_id}'],
    ['{{job_id}}', 'Use letters, digits'],
    [`${'a'.repeat(500)}/{job_id}`, 'longer than 500 characters'],
  ])('rejects %s', (path, problem) => {
    expect(problemOfPath(path)).toContain(problem);
  });
});

test.each([
  ['', null],
  ['gleaner', null],
  ['gleaner/results/', null],
  ['/gleaner', 'must not begin'],
  ['a/../b', 'a segment of dots only'],
  ['{market}', 'Use letters, digits'],
  ['x'.repeat(501), 'longer than 500'],
])('problemOfPrefix(%j)', (prefix, problem) => {
  if (problem === null) expect(problemOfPrefix(prefix)).toBeNull();
  else expect(problemOfPrefix(prefix)).toContain(problem);
});

describe('expandPath()', () => {
  test('replaces every variable', () => {
    const all = Object.keys(pathVariables)
      .map((name) => `{${name}}`)
      .join('|');
    expect(expandPath(all, values)).toBe(Object.values(pathVariables).join('|'));
  });

  test('has a region for jobs whose units have their own', () => {
    expect(expandPath('{region}/{job_id}', { ...values, region: '' })).toBe(`all/${values.jobId}`);
  });
});
