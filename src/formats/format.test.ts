import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { adversarial, columns as all, nested, stream } from '../../test/system/readers/rows.ts';
import { createFormat, type FormatName } from './format.ts';
import { type ExactObject, formatExact, parseExact } from './json-text.ts';

// Without the columns whose cells look like those of another column in CSV.
const columns = all.filter(({ name }) => name !== 'counts' && name !== 'seen_at');

const bytesOf = (name: FormatName, rows: Iterable<ExactObject>) =>
  buffer(createFormat(name, columns)(stream(rows)));
const textOf = async (name: FormatName, rows: Iterable<ExactObject>) =>
  (await bytesOf(name, rows)).toString();
const header =
  'unit_index,title,price.amount,price.currency,sold,available,images,models,seller,status,other_fields';
/** Returns the CSV line of one row. */
const lineOf = async (row: ExactObject) => {
  const text = await textOf('csv', [row]);
  expect(text.slice(0, header.length + 2)).toBe(`${header}\r\n`);
  return text.slice(header.length + 2, -2);
};

describe('json and jsonl', () => {
  test('contain the rows as they are, with every digit', async () => {
    const texts = adversarial.map(formatExact);
    expect(await textOf('jsonl', adversarial)).toBe(`${texts.join('\n')}\n`);
    expect(await textOf('json', adversarial)).toBe(`[\n${texts.join(',\n')}\n]\n`);
    expect(parseExact(texts[5]!)).toEqual(adversarial[5]);
  });

  test('are valid without rows', async () => {
    expect([await textOf('json', []), await textOf('jsonl', [])]).toEqual(['[]\n', '']);
  });
});

describe('csv', () => {
  test('has an apostrophe before text that a spreadsheet evaluates, and none before numbers', async () => {
    expect(await lineOf(adversarial[0]!)).toBe(
      `0,"'=HYPERLINK(""http://evil.example"";""x"")",-1.5,'+1,,,,,,,`,
    );
    expect(await lineOf(adversarial[1]!)).toBe("1,'@SUM(1),0,'-x,-3,,,,,,");
    expect(await lineOf(adversarial[2]!)).toBe(`2,'\t'=1,1e+21,"'\r\n'=1",,,,,,,`);
  });

  test('quotes commas, quotes and line ends, and distinguishes the empty string from null', async () => {
    expect(await lineOf(adversarial[3]!)).toBe('3,"a,""b""\r\nc\nd",0.1,"",,true,,,,,');
    expect(await lineOf({ unit_index: 1, title: null })).toBe('1,,,,,,,,,,');
  });

  test('writes lists and objects without listed members as JSON text', async () => {
    expect(await lineOf(adversarial[10]!)).toBe(
      `10,"",,,,,,"[{""price"":1}]","{""name"":""x""}","""on""","{""more"":[""y""]}"`,
    );
  });

  test('keeps the digits of integers; those beyond 64 bits are other fields', async () => {
    expect(await lineOf(adversarial[6]!)).toBe(
      '6,big,9007199254740993,,,,,,,,"{""sold"":99999999999999999999999}"',
    );
  });

  test('keeps values of another type, and unlisted members, as other fields by their path', async () => {
    expect(await lineOf(adversarial[9]!)).toBe(
      '9,,,,,,,,,,"{""title"":12,""sold"":""12"",""price"":""free"",""extra"":{""a.b"":1}}"',
    );
    expect(await lineOf(adversarial[12]!)).toBe(
      '12,proto,,,,,,,,,"{""__proto__"":{""polluted"":true}}"',
    );
    expect(await lineOf(adversarial[13]!)).toBe(
      '13,\u0000nul,12,EUR,,,,,,,"{""price.note"":""=1""}"',
    );
  });

  test('replaces a lone surrogate, which UTF-8 cannot encode', async () => {
    expect(await lineOf(adversarial[5]!)).toBe('5,lone \ufffd surrogate,,,9007199254740993,,,,,,');
  });

  test('starts with a byte order mark only as csv-bom', async () => {
    expect([...(await bytesOf('csv-bom', [])).subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    expect(await textOf('csv', [])).toBe(`${header}\r\n`);
  });

  test('writes records nested 2,000 levels deep', async () => {
    const [, text] = (await textOf('csv', [{ unit_index: 1, deep: nested(1_000) }])).split('\r\n');
    expect(text).toContain('{""end"":true}');
  });
});

describe('createFormat()', () => {
  test.each(['json', 'jsonl', 'csv', 'parquet'] as const)(
    'requests rows for %s only while bytes are read',
    async (name) => {
      let requested = 0;
      const rows = (async function* () {
        for (; requested < 1_000; requested++)
          yield { unit_index: requested, title: `${requested} `.repeat(5_000) };
      })();
      const bytes = createFormat(name, columns)(rows)[Symbol.asyncIterator]();
      await bytes.next();
      expect(requested).toBeGreaterThan(0);
      expect(requested).toBeLessThan(200);
      await bytes.return?.();
      const before = requested;
      await new Promise(setImmediate);
      expect(requested).toBe(before);
    },
  );
});
