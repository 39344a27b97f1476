import { getOption } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { SubmitGetPcBulkRequestSchema } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { form } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { Fault } from '../../contract/fault.ts';
import { readRows } from './plan.ts';

const header = 'region,shop_id,item_id';
const one = { region: 'sg', shop_id: '1', item_id: '2' };
const two = { region: 'my', shop_id: '3', item_id: '4' };

const read = async (...parts: (string | number[])[]) =>
  readRows(Buffer.concat(parts.map((part) => Buffer.from(part as string))));

/** Returns the location under ["body", "file"] and the type of every problem. */
async function problemsOf(...parts: (string | number[])[]): Promise<unknown[]> {
  const fault = await read(...parts).catch((error) => error);
  expect(fault).toBeInstanceOf(Fault);
  expect(fault.code).toBe('invalid');
  return (fault as Fault).problems.map(({ loc, type }) => {
    expect(loc.slice(0, 2)).toEqual(['body', 'file']);
    return [loc.slice(2), type];
  });
}

test('reads the columns that the contract declares', async () => {
  const { columns } = getOption(SubmitGetPcBulkRequestSchema.field.file, form);
  expect(await read(`${columns.join(',')}\nsg,1,2\n`)).toEqual([one]);
});

describe('accepts rows', () => {
  test.each<[string, string]>([
    ['line feeds', `${header}\nsg,1,2\nmy,3,4\n`],
    ['carriage returns and line feeds', `${header}\r\nsg,1,2\r\nmy,3,4\r\n`],
    ['carriage returns', `${header}\rsg,1,2\rmy,3,4`],
    ['every sort of line end', `${header}\r\nsg,1,2\nmy,3,4\r\n`],
    ['no end of the last line', `${header}\nsg,1,2\nmy,3,4`],
    ['blank lines', `\n${header}\n\nsg,1,2\n   \nmy,3,4\n\n`],
    ['quotes', `"region","shop_id","item_id"\n"sg","1","2"\n"my",3,"4"\n`],
    ['spaces around', ` region , shop_id , item_id \n sg , 1 , 2 \n my , 3 , 4 \n`],
    ['another order', 'item_id,region,shop_id\n2,sg,1\n4,my,3\n'],
    ['capitals', 'REGION,Shop_Id,item_ID\nSG,1,2\nMy,3,4\n'],
    ['further columns', 'note,region,shop_id,item_id,price\n"a, ""b""\nc",sg,1,2,9\n,my,3,4,\n'],
    ['a stray quote in a further column', `${header},note\nsg,1,2,27" screen\nmy,3,4,\n`],
    ['further cells without values', `${header}\nsg,1,2,,\nmy,3,4,\n`],
    ['rows of empty cells', `,,\n${header}\n,,\nsg,1,2\n , ,\nmy,3,4\n,,\n,,\n`],
    ['a column twice that says the same', `${header},shop_id\nsg,1,2,1\nmy,3,4,3\n`],
  ])('%s', async (_, text) => {
    expect(await read(text)).toEqual([one, two]);
  });

  test('a byte order mark before a quoted header', async () => {
    expect(await read([0xef, 0xbb, 0xbf], `"region",shop_id,item_id\nsg,1,2\n`)).toEqual([one]);
  });

  test('keeps the order of 2,000 rows, and duplicates', async () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `sg,1,${at % 1_999}`);
    const rows = await read(`${header}\n${lines.join('\n')}\n`);
    expect(rows).toHaveLength(2_000);
    expect(rows.map(({ item_id }) => item_id)).toEqual(lines.map((line) => line.split(',')[2]));
  });

  test('decodes multi-byte characters across chunks', async () => {
    const note = 'ラ'.repeat(30_000);
    expect(await read(`${header},note\nsg,1,2,${note}\nmy,3,4,${note}\n`)).toEqual([one, two]);
  });
});

describe('rejects files', () => {
  test.each<[string, string, unknown[]]>([
    ['nothing', '', [[[], 'too_short']]],
    ['a header alone', `${header}\n`, [[[], 'too_short']]],
    [
      'columns that are missing',
      'region,shop,item\nsg,1,2\n',
      [
        [[0, 'shop_id'], 'missing'],
        [[0, 'item_id'], 'missing'],
      ],
    ],
    [
      'another separator',
      'region;shop_id;item_id\nsg;1;2\n',
      [0, 1, 2].map((at) => [[0, header.split(',')[at]], 'missing']),
    ],
    [
      'a missing column, and cells of the others',
      'region,shop_id\nsg,1\nxx,\n',
      [
        [[0, 'item_id'], 'missing'],
        [[2, 'region'], 'enum'],
        [[2, 'shop_id'], 'missing'],
      ],
    ],
    [
      'missing cells, rows counted without blank lines',
      `${header}\nsg,1,2\n\nsg,,2\nsg,1\nsg\n`,
      [
        [[2, 'shop_id'], 'missing'],
        [[3, 'item_id'], 'missing'],
        [[4, 'shop_id'], 'missing'],
        [[4, 'item_id'], 'missing'],
      ],
    ],
    ['further cells with values', `${header}\nsg,1,2,9\n`, [[[1], 'value_error']]],
    ['no region', `${header}\n,1,2\n`, [[[1, 'region'], 'missing']]],
    ['a region that there is not', `${header}\nus,1,2\n`, [[[1, 'region'], 'enum']]],
    [
      'ids that are none',
      `${header}\nsg,1.5,2\nsg,1,2.3E+10\nsg,-1,2\n`,
      [
        [[1, 'shop_id'], 'string_pattern_mismatch'],
        [[2, 'item_id'], 'string_pattern_mismatch'],
        [[3, 'shop_id'], 'string_pattern_mismatch'],
      ],
    ],
    [
      'a column twice that says two things',
      `${header},shop_id\nsg,1,2,3\n`,
      [[[1, 'shop_id'], 'value_error']],
    ],
    ['a quote that is not closed', `${header},note\nsg,1,2,"a\nsg,1,2,b\n`, [[[1], 'csv_parsing']]],
  ])('%s', async (_, text, problems) => {
    expect(await problemsOf(text)).toEqual(problems);
  });

  test('2,001 rows, but not 2,000 and blank ones', async () => {
    const rows = await read(`${header}\n${'sg,1,2\n'.repeat(2_000)}${',,\n'.repeat(20)}`);
    expect(rows).toHaveLength(2_000);
  });

  test('2,001 rows', async () => {
    expect(await problemsOf(`${header}\n${'sg,1,2\n'.repeat(2_001)}`)).toEqual([[[], 'too_long']]);
  });

  test('lists up to 100 problems', async () => {
    expect(await problemsOf(`${header}\n${'sg,x,y\n'.repeat(300)}`)).toHaveLength(100);
  });

  test.each<[string, number[]]>([
    ['half a sequence at the end', [0xe2, 0x82]],
    ['a byte of Latin 1', [0xe9, 0x0a]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
  ])('bytes that are not UTF-8: %s', async (_, bytes) => {
    expect(await problemsOf(`${header},note\nsg,1,2,`, bytes)).toEqual([[[], 'unicode_error']]);
  });

  test('UTF-16', async () => {
    const bytes = [...Buffer.from(`\ufeff${header}\nsg,1,2\n`, 'utf16le')];
    expect(await problemsOf(bytes)).toEqual([[[], 'unicode_error']]);
  });

  test.each<[string, string]>([
    ['no line ends', 'lorem ipsum '.repeat(700_000)],
    ['separators alone', `${header}\n${','.repeat(8_000_000)}`],
    ['quotes alone', `${header}\n${'"'.repeat(8_000_000)}`],
  ])('8 MB of junk cost little: %s', async (_, junk) => {
    const began = process.cpuUsage();
    expect(await problemsOf(junk)).toEqual([[[], 'csv_parsing']]);
    expect(process.cpuUsage(began).user / 1e6).toBeLessThan(1);
  });
});

test('quotes at most 100 characters of a value in a message', async () => {
  const long = 'x'.repeat(40_000);
  const rows = [`${long},1,2,`, `sg,${long},2,`, `sg,1,2,${long}`].join('\n');
  const fault = await read(`${header},item_id\n${rows}`).catch((error) => error);
  const { problems } = fault as Fault;
  expect(problems.map(({ loc }) => loc.slice(2))).toContainEqual([1, 'region']);
  expect(problems.length).toBeGreaterThan(3);
  for (const { msg } of problems) expect(msg.length).toBeLessThan(400);
});

describe('readRows()', () => {
  const regions = ['id', 'sg', 'th', 'ph', 'my', 'vn', 'tw', 'br'];

  test('accepts every region of the marketplace', async () => {
    const rows = await read(`${header}\n${regions.map((region) => `${region},1,2`).join('\n')}`);
    expect(rows.map(({ region }) => region)).toEqual(regions);
  });

  test.each([
    ['an empty file', '', 'The file has no rows'],
    ['a missing column', 'region,shop_id\nsg,1', "The column 'item_id' is missing"],
    ['too many rows', `${header}\n${'sg,1,2\n'.repeat(2_001)}`, 'The file has more than 2000 rows'],
    [
      'tabs between columns',
      'region\tshop_id\titem_id\nsg\t1\t2',
      `The column 'region' is missing. Separate columns by commas, not by "\\t"`,
    ],
    [
      'other names of columns',
      'region,item_id,shop\nsg,1,2',
      `The column 'shop_id' is missing. The first line has "shop"`,
    ],
    ['a missing cell', `${header}\nsg,,2`, "The row lacks 'shop_id' (line 2)"],
    [
      'the line of a row',
      `\n${header}\r\n\r\n,,\r\nsg,1,2\n"sg",1,\n`,
      "The row lacks 'item_id' (line 6)",
    ],
    [
      'the first line of a row',
      `note,${header}\n"a\r\nb",sg,1,2\n"c\n\n",sg,1,x\n`,
      '"x" is not an id (line 4)',
    ],
    ['an unknown region', `${header}\nus,1,2`, `"us" is not one of ${regions.join(', ')} (line 2)`],
    ['no id', `${header}\nsg,x,2`, '"x" is not an id (line 2)'],
    [
      'an address that is none of a product',
      `${header}\nsg,,https://a.example.sg/cart`,
      '"https://a.example.sg/cart" is not the address of a product (line 2)',
    ],
    [
      'an address of another region',
      `${header}\nsg,,https://a.example.co.id/product/1/2`,
      `'region' is "sg", but "id" in the address (line 2)`,
    ],
    [
      'a column twice',
      `${header},shop_id,shop_id\nsg,1,2,1,3`,
      `The column 'shop_id' occurs twice with different values: "1" and "3" (line 2)`,
    ],
    [
      'a long line',
      `${header}\nsg,1,2\n${'x'.repeat(100_001)}`,
      'Line 3 is longer than 100000 bytes',
    ],
  ])('reports %s', async (_which, text, message) => {
    const fault = await read(text).catch((error) => error);
    expect((fault as Fault).problems[0]!.msg).toBe(message);
  });

  test('reports why a row cannot be parsed', async () => {
    const fault = await read(`${header},note\nsg,1,2,"a\nsg,1,2,b\n`).catch((error) => error);
    expect((fault as Fault).problems[0]!.msg).toMatch(/^The row cannot be parsed: \S/);
    const latin = await read(`${header}\n`, [0xe9]).catch((error) => error);
    expect((latin as Fault).problems[0]!.msg).toBe('The file is not UTF-8. Save it as "CSV UTF-8"');
  });

  test.each([
    [
      'a column of addresses',
      'url\nhttps://a.example.sg/x-i.1.2\nhttps://a.example.com.my/product/3/4?a=b\n',
    ],
    [
      'a list of addresses',
      'https://a.example.sg/x-i.1.2\n\nhttps://a.example.com.my/product/3/4\n',
    ],
    [
      'addresses as ids',
      'note,item_id\n,https://a.example.sg/x-i.1.2\n,https://a.example.com.my/product/3/4\n',
    ],
    ['addresses beside ids', `${header},url\n,,,https://a.example.sg/x-i.1.2\nmy,3,4,\n`],
  ])('reads %s', async (_which, text) => {
    expect(await read(text)).toEqual([one, two]);
  });

  test('fills the region of rows without one', async () => {
    const rows = (text: string) => readRows(Buffer.from(text), 'sg');
    expect(rows('shop_id,item_id\n1,2\n')).toEqual([one]);
    expect(rows(`${header}\n,1,2\nmy,3,4\n`)).toEqual([one, two]);
    expect(rows('https://a.example.com/product/1/2\nhttps://a.example.com.my/product/3/4')).toEqual(
      [one, two],
    );
    expect(await problemsOf('https://a.example.com/product/1/2\n')).toEqual([
      [[0, 'region'], 'missing'],
    ]);
  });

  test.each(['\n', '\r', '\r\n'])(
    'accepts lines of 100,000 bytes that end with %j, and rejects longer ones',
    async (end) => {
      const line = (bytes: number) => `sg,1,2,${'x'.repeat(bytes - 7)}`;
      const file = (bytes: number, last: string) =>
        [`${header},note`, line(bytes), line(bytes)].join(end) + last;
      expect(await read(file(99_990, end))).toEqual([one, one]);
      expect(await problemsOf(file(100_001, end))).toEqual([[[], 'csv_parsing']]);
      const untilEnd = [`${header},note`, line(10), line(100_001)].join(end);
      expect(await problemsOf(untilEnd)).toEqual([[[], 'csv_parsing']]);
    },
  );
});
