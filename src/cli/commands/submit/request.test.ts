import { type Message, toJson } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { GleanerError } from '../../../../clients/typescript/index.ts';
import { type JobType, jobTypes } from '../../../contract/job-types.ts';
import type { Io } from '../../io.ts';
import { jobTypeAt, jobTypeNamed } from './job-types.ts';
import { prepare, prepareFrom, withLines } from './request.ts';
import { formatOf, parseContent, type UnitFileFormat } from './rows.ts';

/** Returns a message as JSON with the field names of the contract. */
const asJson = ({ method }: JobType, request: Message) =>
  toJson(method.input, request, { useProtoFieldName: true }) as Record<string, unknown>;

/** The body of a request made of a file's text. */
function bodyOf(
  market: string,
  kind: string,
  text: string,
  set: string[] = [],
  format?: UnitFileFormat,
) {
  const jobType = jobTypeNamed(market, kind);
  const content = parseContent('f', text, format ?? formatOf('f', text));
  const { request, problems, ignored, lineOf, total } = prepare(
    jobType,
    { name: 'f', text, content },
    set,
  );
  return { body: asJson(jobType, request), problems, ignored, lineOf, total };
}

describe('jobTypes', () => {
  test('are found by name and by path', () => {
    expect(jobTypes.length).toBeGreaterThanOrEqual(14);
    expect(jobTypeNamed('mkta', 'get-pc-bulk').endpoint.path).toBe('/v1/mkta/get_pc_bulk/submit');
    expect(jobTypeNamed('amazon', 'pdp_bulk')).toBe(jobTypeNamed('mkte', 'pdp_bulk'));
    expect(jobTypeAt('/mktb/pdp/bulk/submit')).toBe(jobTypeNamed('mktb', 'pdp_bulk'));
  });

  test.each([
    [() => jobTypeNamed('mktz', 'pdp_bulk'), 'No market "mktz" (mkta Shopee, '],
    [() => jobTypeNamed('mktd', 'get_pc'), 'mktd has no kind "get_pc" (pdp_bulk)'],
    [() => jobTypeNamed('amazon', undefined), 'Name a kind after amazon: pdp_bulk, search_bulk'],
    [() => jobTypeNamed('list.csv', undefined), 'No market "list.csv" (mkta Shopee, '],
    [() => jobTypeNamed('mktd', 'l.csv'), '"l.csv" (pdp_bulk). Name the kind before the file'],
    [() => jobTypeAt('/v1/jobs'), '"/v1/jobs" is not a submit path'],
  ])('are refused if they do not exist', (find, message) => {
    expect(find).toThrow(message);
  });
});

test('prepare() lists unknown fields of a JSON file', () => {
  const items = [
    { item_id: '1', shop_id: '2', nation: 'sg' },
    { item_id: '3', shop_id: '4', nation: 'sg' },
  ];
  const { ignored } = bodyOf('mkta', 'variant_sold', JSON.stringify({ items, max_page: 1 }));
  expect(ignored).toEqual(['items[].nation', 'max_page']);
});

describe('formatOf()', () => {
  test.each([
    ['a.csv', '[1]', 'csv'],
    ['a.JSON', 'x', 'json'],
    ['a.ndjson', 'x', 'jsonl'],
    ['a.txt', 'x', 'lines'],
    ['-', ' [{}]', 'json'],
    ['-', '{"items":\n[]}', 'json'],
    ['-', '{"a":1}\n{"a":2}\n', 'jsonl'],
    ['-', 'https://x.test/1\n', 'lines'],
    ['-', 'item_id,shop_id\n', 'csv'],
  ])('detects the format of %s that begins with %j as %s', (name, text, format) => {
    expect(formatOf(name, text)).toBe(format);
  });
});

describe('prepare()', () => {
  const items = [
    { item_id: '1', shop_id: '2' },
    { item_id: '3', shop_id: '4', country: 'sg' },
  ];

  test.each([
    ['CSV', '\uFEFFshop_id,item_id,country\r\n2,1,\r\n\r\n"4",3,sg\r\n', [2, 4]],
    [
      'JSON Lines',
      '{"item_id":1,"shop_id":"2"}\n\n{"item_id":"3","shop_id":4,"country":"sg"}\n',
      [1, 3],
    ],
    ['JSON', JSON.stringify(items), [undefined, undefined]],
    ['a whole body', JSON.stringify({ items, other: 1 }), [undefined, undefined]],
  ])('is made of %s, and knows its lines', (_, text, lines) => {
    const { body, lineOf, total } = bodyOf('mkta', 'variant_sold', text, ['country=sg']);
    expect(body).toEqual({ country: 'sg', items });
    expect([lineOf(0), lineOf(1), total]).toEqual([...lines, 2]);
  });

  test('converts text to numbers for numeric fields', () => {
    const { body } = bodyOf('mktb', 'search_bulk', 'keyword,product_limit\n123,50\n');
    expect(body).toEqual({ items: [{ keyword: '123', list_type: 'search', product_limit: 50 }] });
  });

  test.each([
    ['https://a.test/1\nhttps://a.test/2\n', 'lines'],
    ['https://a.test/1\nhttps://a.test/2\n', 'csv'],
    ['url\nhttps://a.test/1\nhttps://a.test/2\n', 'csv'],
  ] as const)('creates a body with one column from %j as %s', (text, format) => {
    expect(bodyOf('mktf', 'search_bulk', text, [], format).body).toEqual({
      items: [{ url: 'https://a.test/1' }, { url: 'https://a.test/2' }],
    });
  });

  test.each([
    ['https://a.test/1\nhttps://a.test/2\n'],
    ['url\nhttps://a.test/1\nhttps://a.test/2\n'],
    ['["https://a.test/1","https://a.test/2"]'],
    ['{"urls":["https://a.test/1","https://a.test/2"]}'],
  ])('creates a request of addresses from %j', (text) => {
    expect(bodyOf('mkta', 'search_items', text).body).toEqual({
      urls: ['https://a.test/1', 'https://a.test/2'],
    });
  });

  test('creates a single unit from settings or from a file', () => {
    const one = { region: 'id', item_id: '1', shop_id: '2' };
    const set = Object.entries(one).map(([name, value]) => `${name}=${value}`);
    const jobType = jobTypeNamed('mkta', 'get_pc');
    expect(asJson(jobType, prepare(jobType, null, set).request)).toEqual(one);
    expect(bodyOf('mkta', 'get_pc', 'item_id,shop_id\n1,2\n', ['region=id']).body).toEqual(one);
    expect(() => bodyOf('mkta', 'get_pc', 'region,shop_id,item_id\nid,2,1\nid,2,2\n')).toThrow(
      'get_pc takes one unit per job, not 2',
    );
  });

  test.each<[string, UnitFileFormat]>([
    ['ASIN\nB0GLN00001\nB0GLN00002\n', 'csv'],
    ['asin,country\nB0GLN00001,\nB0GLN00002,de\n', 'csv'],
    ['B0GLN00001\nhttps://www.e.example.de/dp/B0GLN00002\n', 'lines'],
    ['B0GLN00001\nB0GLN00002, DE\n', 'lines'],
    ['[{"asin":"B0GLN00001"},{"asin":"B0GLN00002","country":"de"}]', 'json'],
    ['{"items":[{"asin":"B0GLN00001"},{"asin":"B0GLN00002"}]}', 'json'],
    ['{"asin":"B0GLN00001"}\n{"asin":"B0GLN00002"}\n', 'jsonl'],
  ])('adds fields that units of %j as %s lack', (text, format) => {
    expect(bodyOf('mkte', 'pdp_bulk', text, ['country=de'], format).body).toEqual({
      items: [
        { asin: 'B0GLN00001', country: 'de' },
        { asin: 'B0GLN00002', country: 'de' },
      ],
    });
  });

  test('reads the names of choices in settings', () => {
    const { body } = bodyOf('mkte', 'pdp_bulk', 'asin\nB0GLN00001\n', ['country=Germany']);
    expect(body).toEqual({ items: [{ asin: 'B0GLN00001', country: 'de' }] });
  });

  test('reads semicolons as spreadsheets write them', () => {
    const { body } = bodyOf('mkte', 'pdp_bulk', 'ASIN;Country\nB0GLN00001;Germany\n');
    expect(body).toEqual({ items: [{ asin: 'B0GLN00001', country: 'de' }] });
  });

  test('lists columns that no field has', () => {
    const { ignored } = bodyOf('mkta', 'variant_sold', 'item_id,shop_id,Note\n1,2,x\n');
    expect(ignored).toEqual(['Note']);
  });

  test('sends a CSV file unchanged, and converts JSON to CSV', () => {
    const fileOf = (text: string) =>
      atob(bodyOf('mkta', 'get_pc_bulk', text, ['rescrape=true']).body.file as string);
    const csv = 'Region;x\nwhatever the service says of it\n';
    expect(fileOf(csv)).toBe(csv);
    expect(fileOf('[{"region":"id","item_id":1},{"item_id":"a,\\"b\\"","shop_id":3}]')).toBe(
      'region,item_id,shop_id\nid,1,\n,"a,""b""",3\n',
    );
  });

  test.each<[string, string, string, string[], string]>([
    [
      'mkta',
      'variant_sold',
      'item_id,shop\n1,2\n',
      [],
      `f: The column 'shop_id' is missing. The first line has "shop". Add it, or pass --set shop_id=<value>`,
    ],
    [
      'mkte',
      'search_bulk',
      'keyword,country\nlamp,de\n',
      [],
      `f: The column 'list_type' is missing. Add it, or pass --set list_type=<search|category>`,
    ],
    [
      'mkta',
      'variant_sold',
      'item_id,shop_id,item_id\n1,2,3\n4,5,6\n',
      [],
      `f has 2 problems\n  f:2: The column 'item_id' occurs twice with different values: "1" and "3"\n  f:3: `,
    ],
    ['mkta', 'variant_sold', 'item_id,shop_id\n1,2,3\n', [], 'f:2: The row has 3 cells, not 2'],
    ['mkta', 'variant_sold', '{"item_id":1}\n{"item_id":}\n', [], 'f:2 is not valid JSON: '],
    [
      'mkta',
      'variant_sold',
      'https://a.test\n',
      [],
      'f:1: "https://a.test" is not the address of a product',
    ],
    [
      'mkta',
      'variant_sold',
      '[]',
      ['region=id'],
      '--set region=id: expected name=value with one of country',
    ],
    [
      'mktb',
      'pdp_bulk',
      '[]',
      ['x'],
      '--set x: expected name=value with one of product_key, shop_domain',
    ],
    ['mkta', 'search_items', '[]', ['x=1'], '--set x=1: search_items has no such fields'],
    ['mktb', 'search_bulk', 'keyword,pmin\na,much\n', [], 'f:2: pmin: expected a number, not much'],
    [
      'mkta',
      'get_pc_bulk',
      'region\n',
      ['rescrape=yes'],
      '--set rescrape: expected true or false, not yes',
    ],
    [
      'mkta',
      'search_items',
      'a,b\nc,d\n',
      [],
      'f: mkta search_items takes one column, or the column url, not 2 columns',
    ],
  ])('refuses %s %s with %j and %j', (market, kind, text, set, message) => {
    expect(() => bodyOf(market, kind, text, set)).toThrow(message);
  });

  test.each<[string, UnitFileFormat, string]>([
    ['region,shop_id,item_id\nsg,1,2\n\nsg,3,x\n', 'csv', '"x" is not an id (line 4)'],
    ['[{"region":"sg","shop_id":1,"item_id":2},{"item_id":"x"}]', 'json', '"x" is not an id'],
    [
      '{"region":"sg","shop_id":1,"item_id":2}\n\n{"item_id":"x"}\n',
      'jsonl',
      '"x" is not an id (line 3)',
    ],
  ])('names the lines of %j as %s that the service reads', (text, format, msg) => {
    const jobType = jobTypeNamed('mkta', 'get_pc_bulk');
    const content = parseContent('f', text, format);
    const prepared = prepare(jobType, { name: 'f', text, content }, ['region=sg']);
    // The file made of other formats has no blank lines.
    const line = format === 'csv' ? 4 : 3;
    const problems = [
      { loc: ['body', 'file', 2, 'item_id'], type: 'enum', msg: `"x" is not an id (line ${line})` },
    ];
    const error = withLines(new GleanerError({ status: 422, problems, detail: '' }), prepared);
    expect((error as GleanerError).problems[0]!.msg).toBe(msg);
  });

  test('refuses files in another encoding than UTF-8', async () => {
    const io = {
      stdin: {},
      readBytes: async () => Buffer.from('\ufeffasin\nB0GLN00001\n', 'utf16le'),
    };
    const input = { file: 'ids.csv', format: undefined, set: [] };
    await expect(
      prepareFrom(io as unknown as Io, jobTypeNamed('mkte', 'pdp_bulk'), input),
    ).rejects.toThrow('ids.csv: The file is UTF-16, not UTF-8. Save it as "CSV UTF-8"');
  });

  test.each([
    [undefined, 'Missing file: standard input is empty, too.'],
    ['-', 'standard input is empty'],
  ])('refuses an empty standard input for the file %j', async (file, message) => {
    const io = { stdin: {}, readBytes: async () => new Uint8Array() } as unknown as Io;
    const input = { file, format: undefined, set: ['url=https://a.test'] };
    await expect(prepareFrom(io, jobTypeNamed('mktf', 'search_bulk'), input)).rejects.toThrow(
      message,
    );
  });

  test.each(['-', 'urls.txt', './urls'])('jobTypeNamed() takes %j for a file', (kind) => {
    expect(() => jobTypeNamed('mktf', kind)).toThrow('Name the kind before the file');
  });

  test.each([
    ['B0GLN00001, de\nB0GLN00002, us\n', ['de', 'us']],
    ['B0GLN00001\n', ['uk']],
    ['asin\nB0GLN00001\n', ['uk']],
  ])('reads the list of ids %j from standard input', async (text, countries) => {
    const io = { stdin: {}, readBytes: async () => new TextEncoder().encode(text) };
    const jobType = jobTypeNamed('mkte', 'pdp_bulk');
    const input = { file: '-', format: undefined, set: ['country=uk'] };
    const { request } = await prepareFrom(io as unknown as Io, jobType, input);
    const { items } = asJson(jobType, request) as { items: { country: string }[] };
    expect(items.map(({ country }) => country)).toEqual(countries);
  });

  test('reports every value that the contract cannot represent, with its line', () => {
    const { problems, lineOf } = bodyOf(
      'mkta',
      'variant_sold',
      '{"item_id":1,"shop_id":2}\n{"item_id":true}\n',
    );
    expect(problems.map(({ loc, type }) => `${loc.join('.')} ${type}`)).toEqual([
      'body.items.1.item_id string_type',
      'body.items.1.shop_id missing',
    ]);
    expect(lineOf(1)).toBe(2);
  });
});
