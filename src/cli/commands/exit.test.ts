import { expect, test } from 'vitest';
import { GleanerError } from '../../../clients/typescript/index.ts';
import { ConfigError } from '../../base/config.ts';
import { errorLines, exitCodeOf, Interrupted, UsageError } from './exit.ts';

test.each([
  [new UsageError('x'), 2],
  [new ConfigError('x'), 2],
  [new Interrupted(), 130],
  [new Error('x'), 1],
  [
    Object.assign(new Error('ENOENT: no such file'), {
      code: 'ENOENT',
      path: 'x',
      syscall: 'open',
    }),
    2,
  ],
  [
    Object.assign(new Error('ENOSPC: no space left'), {
      code: 'ENOSPC',
      path: 'x',
      syscall: 'write',
    }),
    1,
  ],
])('exitCodeOf() maps %s', (error, code) => {
  expect(exitCodeOf(error)).toBe(code);
});

test.each([
  [0, 8],
  [-1, 1],
  [400, 2],
  [401, 3],
  [402, 5],
  [403, 3],
  [404, 4],
  [409, 6],
  [413, 2],
  [422, 2],
  [429, 8],
  [500, 1],
  [502, 8],
  [503, 8],
])('exitCodeOf() maps status %i to %i', (status, code) => {
  expect(exitCodeOf(new GleanerError({ status, detail: 'x' }))).toBe(code);
});

test('errorLines() prints a line per problem', () => {
  const problem = { msg: 'Field required', type: 'missing' };
  const problems = [
    { ...problem, loc: ['body', 'items', 3, 'item_id'] },
    { ...problem, loc: ['body'] },
    { ...problem, loc: ['header', 'gleaner-hold'] },
  ];
  expect(errorLines(new GleanerError({ status: 422, detail: 'x', problems }))).toEqual([
    'gleaner: the request has 3 problems',
    '  items.3.item_id: Field required',
    '  body: Field required',
    '  --hold: Field required',
  ]);
});

test('errorLines() names the option that a problem is about', () => {
  const error = new GleanerError({ status: 422, detail: "gleaner-deliver-to: 'x' is not the id" });
  expect(errorLines(error)).toEqual(["gleaner: --deliver-to: 'x' is not the id"]);
});

test('errorLines() prints the request id of server errors only', () => {
  const lines = (status: number) =>
    errorLines(new GleanerError({ status, detail: 'Broken.', requestId: 'r1' }));
  expect(lines(500)).toEqual(['gleaner: Broken (request r1)']);
  expect(lines(404)).toEqual(['gleaner: Broken']);
});

test('errorLines() prints a stack for bugs, but not for file system errors', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    syscall: 'write',
  });
  expect(errorLines(full)).toEqual(['gleaner: ENOSPC: no space left on device, write']);
  expect(errorLines(new TypeError('oops'))[0]).toMatch(/^gleaner: TypeError: oops\n {4}at /);
  expect(errorLines(new Interrupted())).toEqual([]);
});
