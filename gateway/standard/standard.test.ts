import { create, createRegistry } from '@bufbuild/protobuf';
import { AnySchema, anyPack, DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createRouterTransport } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Responder, recordedCaller, startTestGateway, type TestGateway } from '../fixture/gateway.ts';
import { libraryService } from '../fixture/shop.ts';
import { transportCaller } from '../transport-caller.ts';
import { standardDialect } from './dialect.ts';
import { StatusError } from './status.ts';

const echo: Responder = (message) => message;
let respond: Record<string, Responder> = {};
const { caller, calls } = recordedCaller({
  GetBook: (...all) => (respond.GetBook ?? echo)(...all),
  ListBooks: () => ({ books: [{ name: 'a', copyCount: 2n ** 60n }] }),
  UpdateBook: (message) => message.book,
  CreateBook: (...all) => (respond.CreateBook ?? echo)(...all),
  PurgeBooks: () => ({}),
  StreamBooks: async function* () {
    yield { name: 'a' };
    yield { name: 'b' };
  },
  ConvertPage: async function* (message: Record<string, unknown>) {
    yield { contentType: 'text/plain', data: message.data };
  },
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    services: [libraryService],
    dialect: standardDialect(),
    caller,
    pathForms: (path) => [path],
  });
});
beforeEach(() => {
  calls.length = 0;
  respond = {};
});
afterAll(() => gateway.close(0));

async function ask(method: string, path: string, body?: unknown) {
  const response = await gateway.ask(path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const post = (body: unknown) => ask('POST', '/v2/books/ann', body);
const list = (query: string) => ask('GET', `/v2/books?${query}`);

describe('path templates', () => {
  test('bind several segments to one field, and keep %2F in them', async () => {
    await ask('GET', '/v2/shelves/a%20b/books/c%2fd%25');
    expect(calls[0]!.message).toMatchObject({ name: 'shelves/a b/books/c%2fd%' });
  });

  test('match a path whose slashes are escaped, unless another template matches it', async () => {
    expect((await ask('GET', '/v2/shelves%2Fa/books%2fc%252F')).status).toBe(200);
    expect(calls[0]!.message).toMatchObject({ name: 'shelves/a/books/c%2F' });
    expect((await ask('GET', '/v2/shelves%2Fa')).status).toBe(404);
    expect((await ask('DELETE', '/v2/books%2F1')).status).toBe(405);
  });

  test('serve additional bindings, with ** and a verb', async () => {
    await ask('GET', '/v2/books/x/y%2Fz:lookup');
    expect(calls[0]!.message).toMatchObject({ name: 'x/y%2Fz' });
  });

  test('bind nested fields, which take precedence over the body, and decode %2F in one segment', async () => {
    const { body } = await ask('POST', '/v2/books/a%2Fb', { author: { name: 'x', teacher: { name: 't' } } });
    expect(body).toEqual({ author: { name: 'a/b', teacher: { name: 't' } } });
  });

  test('bind beside a body that is one field', async () => {
    const { body } = await ask('PATCH', '/v2/shelves/1/books/2?updateMask=copy_count,genre', {
      genre: 'NOVEL',
    });
    expect(body).toEqual({ name: 'shelves/1/books/2', genre: 'NOVEL' });
    expect(calls[0]!.message).toMatchObject({ updateMask: { paths: ['copy_count', 'genre'] } });
  });

  test('serve the method of a custom rule', async () => {
    expect(await ask('PURGE', '/v2/books')).toEqual({ status: 200, body: {} });
  });
});

describe('query parameters', () => {
  test.each([
    ['like.copyCount=9007199254740993', { copyCount: 9007199254740993n }],
    ['like.copy_count=-1&pageSize=2', { copyCount: -1n }],
    ['like.genre=NOVEL', { genre: 1 }],
    ['like.genre=7', { genre: 7 }],
    ['like.otherGenres=NOVEL&like.otherGenres=2', { otherGenres: [1, 2] }],
    ['like.listPrice=-Infinity', { listPrice: -Infinity }],
    ['like.coverImage=-_8', { coverImage: new Uint8Array([251, 255]) }],
    ['like.coverImage=%2B/8%3D', { coverImage: new Uint8Array([251, 255]) }],
    ['like.publishTime=1970-01-01T00:00:01Z', { publishTime: { seconds: 1n, nanos: 0 } }],
    ['like.readingTime=1.5s', { readingTime: { seconds: 1n, nanos: 500_000_000 } }],
    ['like.lockedFields=copyCount,author.name', { lockedFields: { paths: ['copy_count', 'author.name'] } }],
    ['like.available=false', { available: false }],
    ['like.edition=5', { edition: 5n }],
    ['like.pageCount=0', { pageCount: 0 }],
    ['like.author.teacher.name=z', { author: { teacher: { name: 'z' } } }],
    ['$alt=json;enum-encoding%3Dint&prettyPrint=true&like.name=n', { name: 'n' }],
  ])('%s sets the field', async (query, like) => {
    expect(await list(query)).toMatchObject({ status: 200 });
    expect(calls[0]!.message).toMatchObject({ like });
  });

  test.each([
    ['like.copyCount=x', 'like.copyCount'],
    ['like.copyCount=9223372036854775808', 'like.copyCount'],
    ['like.available=1', 'like.available'],
    ['like.genre=PROSE', 'like.genre'],
    ['like.nope=1', 'like.nope'],
    ['like.loans=1', 'like.loans'],
    ['like=1', 'like'],
    ['pageSize=1&pageSize=2', 'pageSize'],
    ['pageSize=1&page_size=1', 'page_size'],
    ['like.publisherName=a&like.archiveName=b', 'like.archiveName'],
    ['like.publishTime=yesterday', 'like.publishTime'],
    [`${'like.author.'.padEnd(500, 'teacher.')}name=x`, `${'like.author.'.padEnd(500, 'teacher.')}name`],
  ])('%s is refused by name', async (query, field) => {
    const { status, body } = await list(query);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field }] }],
    });
    expect(calls).toEqual([]);
  });
});

describe('ProtoJSON', () => {
  test('is read and written in its canonical form', async () => {
    const book = {
      author: { name: 'ann' },
      genre: 'POETRY',
      copyCount: '9007199254740993',
      totalWords: '18446744073709551615',
      listPrice: 'NaN',
      coverImage: '+/8=',
      publishTime: '2024-01-02T03:04:05.600Z',
      readingTime: '3.500s',
      lockedFields: 'copyCount,author.name',
      labels: { a: [1, null, { b: true }] },
      remark: null,
      attachment: { '@type': 'type.googleapis.com/fixture.library.v1.Author', name: 'zoe' },
      available: false,
      edition: '0',
      extras: [1, 'x'],
      archiveName: 'north',
      otherGenres: ['NOVEL'],
      loans: { bob: '7' },
      pageCount: 0,
    };
    expect(await post(book)).toEqual({ status: 200, body: book });
  });

  test('is read in its other forms', async () => {
    const body =
      '{"copy_count":9007199254740993,"total_words":18446744073709551615,"edition":9007199254740993,"genre":2,' +
      '"cover_image":"-_8","labels":{"n":12345678901234567890},"loans":{"a":9007199254740993},"publish_time":null}';
    expect((await post(body)).body).toEqual({
      author: { name: 'ann' },
      copyCount: '9007199254740993',
      totalWords: '18446744073709551615',
      edition: '9007199254740993',
      genre: 'POETRY',
      coverImage: '+/8=',
      labels: { n: 12345678901234567000 },
      loans: { a: '9007199254740993' },
    });
  });

  test.each([
    ['{"nope":1}', '"nope" is unknown'],
    ['{"archiveName":"a","publisherName":"b"}', 'oneof set multiple times'],
    ['{"genre":"PROSE"}', 'Genre from JSON: "PROSE"'],
    ['{"pageCount":1,"pageCount":2}', 'duplicate'],
    ['{"copyCount":9223372036854775808}', 'copy_count'],
    ['[1]', 'Book'],
    ['{"name":1', 'not valid JSON'],
    [`{"remark":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'recursion'],
  ])('%s is refused', async (body, reason) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(response.body.error.message).toContain(reason);
  });

  test('has enums as numbers if the client asks for them', async () => {
    respond.GetBook = () => ({ genre: 1 });
    const { body } = await ask('GET', '/v2/shelves/1/books/2?$alt=json;enum-encoding%3Dint');
    expect(body).toEqual({ genre: 1 });
  });
});

describe('responses', () => {
  test('are one field with response_body', async () => {
    expect((await list('')).body).toEqual([{ name: 'a', copyCount: '1152921504606846976' }]);
  });

  test('writes a stream as an array', async () => {
    expect(await ask('GET', '/v2/books:stream')).toEqual({
      status: 200,
      body: [{ name: 'a' }, { name: 'b' }],
    });
  });

  test('writes google.api.HttpBody as its bytes', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'text/html' }, body: '<p>' };
    const response = await gateway.ask('/v2/pages:convert', init);
    expect([response.headers.get('content-type'), await response.text()]).toEqual(['text/plain', '<p>']);
    expect(calls[0]!.message).toMatchObject({ contentType: 'text/html' });
  });

  test('returns UNIMPLEMENTED for methods that stream requests', async () => {
    const { status, body } = await ask('POST', '/v2/books:store', {});
    expect([status, body.error.status]).toEqual([501, 'UNIMPLEMENTED']);
  });

  test.each([
    [5, 404, 'NOT_FOUND'],
    [6, 409, 'ALREADY_EXISTS'],
    [9, 400, 'FAILED_PRECONDITION'],
    [4, 504, 'DEADLINE_EXCEEDED'],
    [99, 500, 'UNKNOWN'],
  ])('maps the code %i to the status %i', async (code, httpStatus, status) => {
    const detail = anyPack(DurationSchema, create(DurationSchema, { seconds: 1n }));
    const unknown = create(AnySchema, { typeUrl: 'example/a.B', value: new Uint8Array([1]) });
    respond.GetBook = () => {
      throw new StatusError(code, 'No.', [detail, unknown]);
    };
    const details = [
      { '@type': 'type.googleapis.com/google.protobuf.Duration', value: '1s' },
      { '@type': 'example/a.B', value: 'AQ==' },
    ];
    expect(await ask('GET', '/v2/shelves/1/books/2')).toEqual({
      status: httpStatus,
      body: { error: { code: httpStatus, message: 'No.', status, details } },
    });
  });
});

test('the document describes every binding', async () => {
  const { status, body } = await ask('GET', '/openapi.json');
  expect([status, Object.keys(body.paths)]).toEqual([
    200,
    [
      '/v2/shelves/{name}/books/{name_2}',
      '/v2/books/{name}:lookup',
      '/v2/books',
      '/v2/shelves/{book.name}/books/{book.name_2}',
      '/v2/books/{author.name}',
      '/v2/books:stream',
      '/v2/books:store',
      '/v2/pages:convert',
    ],
  ]);
  const names = body.paths['/v2/books'].get.parameters.map(({ name }: { name: string }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['like.copyCount', 'like.author.name', 'like.edition', 'pageSize']),
  );
});

describe('transportCaller()', () => {
  test('calls a Connect service and maps its errors', async () => {
    const { GetBook, StreamBooks } = Object.fromEntries(
      libraryService.methods.map((method) => [method.name, method]),
    ) as Record<string, (typeof libraryService.methods)[number]>;
    const transport = createRouterTransport(({ rpc }) => {
      rpc(
        GetBook as never,
        ((message: { name: string }) => {
          if (message.name.endsWith('2')) throw new ConnectError('Not here.', Code.NotFound);
          return create(GetBook!.output, { name: message.name } as never);
        }) as never,
      );
      rpc(
        StreamBooks as never,
        async function* () {
          yield create(StreamBooks!.output, { name: 'a' } as never);
        } as never,
      );
    });
    const own = await startTestGateway({
      ...{ services: [libraryService], dialect: standardDialect(), caller: transportCaller(transport) },
      pathForms: (path) => [path],
    });
    const json = async (path: string) => (await own.ask(path)).json();
    expect(await json('/v2/shelves/1/books/1')).toEqual({ name: 'shelves/1/books/1' });
    expect(await json('/v2/books:stream')).toEqual([{ name: 'a' }]);
    expect(await json('/v2/shelves/1/books/2')).toEqual({
      error: { code: 404, message: 'Not here.', status: 'NOT_FOUND' },
    });
    await own.close();
  });
});

test('options select proto names, implicit fields, numbers of enums, and ignored members', async () => {
  const own = await startTestGateway({
    services: [libraryService],
    dialect: standardDialect({
      ...{
        useProtoFieldName: true,
        alwaysEmitImplicit: true,
        enumAsInteger: true,
        ignoreUnknownFields: true,
      },
      registry: createRegistry(TimestampSchema),
    }),
    caller,
    pathForms: (path) => [path],
  });
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: '{"nope":1,"genre":"NOVEL"}' };
  const body = await (await own.ask('/v2/books/ann?zz=1', init)).json();
  expect(body).toMatchObject({ author: { name: 'ann' }, genre: 1, copy_count: '0', other_genres: [] });
  await own.close();
});
