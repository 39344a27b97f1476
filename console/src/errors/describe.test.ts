import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { FaultSchema } from '../../../gen/gleaner/fault/v1/fault_pb.ts';
import { describeFault } from './describe.ts';
import { restFault } from './rest-fault.ts';

test('problems of a call are named by their place', () => {
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
  expect(describeFault(error)).toEqual({
    title: 'The request has problems',
    detail: 'The request is not valid.',
    problems: [{ where: 'items.3', message: 'Field required' }],
  });
});

test.each(['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'])(
  'a browser that got no answer ("%s") is told in words',
  (message) => {
    expect(describeFault(new TypeError(message)).detail).toMatch(/^The service cannot be reached/);
    expect(describeFault(ConnectError.from(new TypeError(message))).problems).toEqual([]);
  },
);

test('a REST answer is read in each of its shapes', async () => {
  const read = async (status: number, body: string) =>
    describeFault(await restFault(new Response(body, { status })));
  expect(await read(402, '{"detail":"5 short","required":8,"current":3,"shortfall":5}')).toMatchObject({
    detail: '5 short',
    problems: [],
  });
  expect(
    await read(
      422,
      '{"detail":[{"loc":["body","items",0,"country"],"msg":"Input should be id","type":"enum"}]}',
    ),
  ).toMatchObject({ detail: 'Input should be id', problems: [{ where: 'items.0.country' }] });
  expect(await read(502, '<html>Bad gateway</html>')).toMatchObject({ detail: '<html>Bad gateway</html>' });
});
