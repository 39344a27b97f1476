import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { FaultSchema } from '../../../../gen/gleaner/fault/v1/fault_pb.ts';
import { canRepeat, describeError, fieldErrors } from './describe.ts';
import { readRestError } from './rest-error.ts';

test('describeError() names the field of each problem', () => {
  const error = new ConnectError('The request is not valid.', Code.InvalidArgument, undefined, [
    {
      desc: FaultSchema,
      value: {
        code: 'invalid',
        problems: [
          {
            location: [
              { step: { case: 'name', value: 'body' } },
              { step: { case: 'name', value: 'items' } },
              { step: { case: 'index', value: 3 } },
            ],
            message: 'Field required',
          },
        ],
      },
    },
  ]);
  expect(describeError(error)).toEqual({
    title: 'Invalid request',
    detail: 'The request is not valid.',
    problems: [{ where: 'items.3', message: 'Field required' }],
  });
});

test('fieldErrors() shows a problem at its field, and others at a given one', () => {
  const invalid = (...path: string[]) =>
    new ConnectError('Not an address.', Code.InvalidArgument, undefined, [
      {
        desc: FaultSchema,
        value: {
          code: 'invalid',
          problems: [
            {
              location: ['body', ...path].map((value) => ({ step: { case: 'name', value } })),
              message: 'Not an address',
            },
          ],
        },
      },
    ]);
  const fields = ['name', 'email'];
  expect(fieldErrors(invalid('email'), fields, 'name')).toEqual({ email: 'Not an address' });
  expect(fieldErrors(invalid('role'), fields, 'name')).toEqual({ name: 'Not an address' });
  const conflict = new ConnectError('Too many users.', Code.Aborted);
  expect(fieldErrors(conflict, fields, 'name')).toEqual({ name: 'Too many users.' });
});

test.each([
  [5n, 'Too much. 10 credits needed, 5 available: 5 short.'],
  [400n, 'Too much.'],
])('describeError() says what a balance of %i lacks for a job of 10 credits', (current, detail) => {
  const quota = { required: 10n, current, shortfall: 10n - current };
  const details = [{ desc: FaultSchema, value: { code: 'max_credits_exceeded', quota } }];
  const error = new ConnectError('Too much.', Code.FailedPrecondition, undefined, details);
  expect(describeError(error).detail).toBe(detail);
});

test.each(['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'])(
  'describeError() explains the network error "%s"',
  (message) => {
    expect(describeError(new TypeError(message)).detail).toMatch(/^Cannot reach the service/);
    expect(describeError(ConnectError.from(new TypeError(message))).problems).toEqual([]);
  },
);

test('readRestError() reads every shape of an error response', async () => {
  const read = async (status: number, body: string) =>
    describeError(await readRestError(new Response(body, { status })));
  expect(
    await read(402, '{"detail":"5 short","required":8,"current":3,"shortfall":5}'),
  ).toMatchObject({
    detail: '5 short',
    problems: [],
  });
  expect(
    await read(
      422,
      '{"detail":[{"loc":["body","items",0,"country"],"msg":"Input should be id","type":"enum"}]}',
    ),
  ).toMatchObject({ detail: 'Input should be id', problems: [{ where: 'items.0.country' }] });
  expect(await read(502, '<html>Bad gateway</html>')).toMatchObject({
    detail: '<html>Bad gateway</html>',
  });
});

test.each([
  ['The API key has been revoked.', 'The API key has been revoked.'],
  [
    'The API key is missing: send the header Authorization: Bearer <key>.',
    'The session has ended. Sign in again.',
  ],
  ['The account is suspended.', 'The account is suspended.'],
])('describeError() shows "%s" of a rejected session as "%s"', (message, detail) => {
  expect(describeError(new ConnectError(message, Code.Unauthenticated)).detail).toBe(detail);
});

test.each([
  [Code.Unavailable, true],
  [Code.NotFound, false],
  [Code.PermissionDenied, false],
])('canRepeat() of an error with code %i returns %s', (code, expected) => {
  expect(canRepeat(new ConnectError('any', code))).toBe(expected);
});
