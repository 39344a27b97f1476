import { expect, test } from 'vitest';
import { suiteGateway } from '../fixture/suite.ts';

const gateway = suiteGateway({ UploadOrder: () => ({ status: 'placed' }) });

const upload = (fields: [string, string | Blob][]) => {
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  return gateway.ask('/api/shop/uploads', { method: 'POST', body });
};
const raw = (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  contentType = 'multipart/form-data; boundary=x',
) => {
  const request = {
    method: 'POST',
    body,
    headers: { 'content-type': contentType },
    duplex: 'half',
  };
  return gateway.ask('/shop/uploads', request as RequestInit);
};
const problems = async (response: Response) => {
  const { detail } = (await response.json()) as { detail: { loc: unknown[]; type: string }[] };
  return {
    status: response.status,
    problems: detail.map(({ loc, type }) => `${loc.join('.')} ${type}`),
  };
};
const file = new File([new Uint8Array([0, 255, 13, 10, 45, 45])], 'items.csv');

test('reads a file byte for byte and applies defaults to fields', async () => {
  const response = await upload([
    ['file', file],
    ['unknown', 'x'],
  ]);
  expect(response.status).toBe(202);
  expect(gateway.calls[0]?.message).toMatchObject({ rescrape: false, resultFormat: 'csv' });
  expect(Buffer.from(gateway.calls[0]?.message.file as Uint8Array)).toEqual(
    Buffer.from([0, 255, 13, 10, 45, 45]),
  );
});

test('reads the booleans of HTML forms', async () => {
  for (const [text, value] of [
    ['true', true],
    ['1', true],
    ['On', true],
    ['false', false],
    ['no', false],
  ] as const) {
    gateway.calls.length = 0;
    await upload([
      ['rescrape', text],
      ['result_format', 'jsonl'],
      ['file', file],
    ]);
    expect(gateway.calls[0]?.message).toMatchObject({ rescrape: value, resultFormat: 'jsonl' });
  }
});

test('refuses parts that are sent twice', async () => {
  const parts: Parameters<typeof upload>[0] = [
    ['file', file],
    ['result_format', 'csv'],
    ['file', file],
    ['result_format', 'csv'],
  ];
  expect(await problems(await upload(parts))).toEqual({
    status: 422,
    problems: ['body.file value_error', 'body.result_format value_error'],
  });
});

test('lists every problem of a form', async () => {
  expect(await problems(await upload([]))).toEqual({
    status: 422,
    problems: ['body.file missing'],
  });
  expect(
    await problems(
      await upload([
        ['file', 'text'],
        ['rescrape', 'perhaps'],
        ['result_format', 'xml'],
      ]),
    ),
  ).toEqual({
    status: 422,
    problems: ['body.file value_error', 'body.rescrape bool_parsing', 'body.result_format enum'],
  });
  expect(
    await problems(
      await upload([
        ['file', file],
        ['result_format', file],
      ]),
    ),
  ).toEqual({ status: 422, problems: ['body.result_format string_type'] });
  expect(
    await problems(
      await upload([
        ['file', file],
        ['result_format', ''],
      ]),
    ),
  ).toEqual({ status: 422, problems: ['body.result_format enum'] });
  expect(
    await problems(await upload([['file', new File([new Uint8Array(950_000)], 'x')]])),
  ).toEqual({
    status: 422,
    problems: ['body.file bytes_too_long'],
  });
});

test.each([
  ['another content type', raw.bind(undefined, '{}', 'application/json'), 415],
  ['no boundary', raw.bind(undefined, 'x', 'multipart/form-data'), 400],
  ['no body', raw.bind(undefined, ''), 422],
  [
    'an empty body of unknown length',
    raw.bind(undefined, new ReadableStream({ start: (to) => to.close() })),
    422,
  ],
  ['no form at all', raw.bind(undefined, 'hello'), 400],
  [
    'a truncated form',
    raw.bind(
      undefined,
      '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
    ),
    400,
  ],
  ['part headers without end', raw.bind(undefined, `--x\r\n${'y'.repeat(100_000)}`), 400],
  ['a large body', raw.bind(undefined, new Uint8Array(1_100_000)), 413],
  [
    'too many parts',
    raw.bind(
      undefined,
      `${'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'.repeat(200)}--x--\r\n`,
    ),
    413,
  ],
  [
    'a long text field',
    raw.bind(
      undefined,
      `--x\r\nContent-Disposition: form-data; name="result_format"\r\n\r\n${'z'.repeat(100_000)}\r\n--x--\r\n`,
    ),
    413,
  ],
  [
    'a part without a name',
    raw.bind(undefined, '--x\r\nContent-Disposition: form-data\r\n\r\nb\r\n--x--\r\n'),
    422,
  ],
  [
    'a field named __proto__',
    raw.bind(
      undefined,
      '--x\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\nb\r\n--x--\r\n',
    ),
    422,
  ],
])('handles %s', async (_name, ask, status) => {
  const response = await ask();
  expect([response.status, await response.json()]).toMatchObject([
    status,
    { detail: expect.anything() },
  ]);
  expect(gateway.calls).toEqual([]);
});
