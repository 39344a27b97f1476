import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { SubmitOptionsSchema } from '../../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { findJobType } from '../../../../src/contract/job-types.ts';
import { curlText, requestFile } from './curl.ts';
import {
  bodyOf,
  draftOf,
  draftOfRequest,
  fileOf,
  fitsForm,
  requestTextOf,
  sharedTexts,
} from './draft.ts';
import { readRequestShape } from './fields.ts';

const jobTypeOf = (market: string, kind: string) => findJobType({ market, kind })!;

/** Returns the draft of a job with these inputs, each of a unit in a region. */
function draftFor(
  market: string,
  kind: string,
  inputs: [input: object, region?: string][],
  region = '',
) {
  const shape = readRequestShape(jobTypeOf(market, kind).method.input);
  const units = inputs.map(([input, place = ''], index) => ({
    input: JSON.stringify(input),
    key: `https://key/${index}`,
    region: place,
  }));
  return { shape, draft: draftOf(shape, { region }, units) };
}

const product = { product_id: '1729000000001' };

describe('draftOf()', () => {
  test('restores the region of the whole job once', () => {
    const input = { item_id: '1', shop_id: '7' };
    const { shape, draft } = draftFor('mkta', 'variant_sold', [[input, 'sg']], 'sg');
    expect(sharedTexts(shape, draft)).toEqual({ country: 'sg' });
    expect(bodyOf(shape, draft)).toEqual({ country: 'sg', items: [{ ...input, country: 'sg' }] });
    expect(fitsForm(shape, draft)).toBe(true);
  });

  test('restores the request of a job without a list', () => {
    const { shape, draft } = draftFor('mkta', 'get_pc', [[{ item_id: '1', shop_id: '7' }]], 'th');
    expect(bodyOf(shape, draft)).toEqual({ region: 'th', item_id: '1', shop_id: '7' });
  });

  test('restores texts from the keys of the units', () => {
    const { shape, draft } = draftFor('mkta', 'search_items', [
      [{ keyword: 'a' }],
      [{ keyword: 'b' }],
    ]);
    expect(bodyOf(shape, draft)).toEqual({ urls: ['https://key/0', 'https://key/1'] });
  });

  test('leaves units of several regions to the file, unless each is a line', async () => {
    const { shape, draft } = draftFor('mktd', 'pdp_bulk', [
      [{ ...product, country: 'sg' }],
      [{ ...product, country: 'th' }],
    ]);
    expect(fitsForm(shape, draft)).toBe(true);
    expect(await fileOf(shape, draft)!.text()).toBe(
      'product_id,country\r\n1729000000001,sg\r\n1729000000001,th\r\n',
    );
    const search = { list_type: 'search', keyword: 'lamp' };
    const searches = draftFor('mkte', 'search_bulk', [
      [{ ...search, country: 'de' }],
      [{ ...search, country: 'uk' }],
    ]);
    expect(fitsForm(searches.shape, searches.draft)).toBe(false);
  });

  test('restores the file of an upload', async () => {
    const { shape, draft } = draftFor('mkta', 'get_pc_bulk', [
      [{ item_id: '1', shop_id: '7' }, 'sg'],
    ]);
    expect(await fileOf(shape, draft)!.text()).toBe('region,shop_id,item_id\r\nsg,7,1\r\n');
  });

  test('restores the options by the names of the query', () => {
    const shape = readRequestShape(jobTypeOf('mkta', 'get_pc').method.input);
    const options = create(SubmitOptionsSchema, { track: 'nightly', maxCredits: 20 });
    expect(draftOf(shape, { region: '', options }, []).options).toEqual({
      track: 'nightly',
      max_credits: '20',
    });
  });
});

describe('draftOfRequest()', () => {
  const draftOfSchedule = (market: string, kind: string, request: object) => {
    const shape = readRequestShape(jobTypeOf(market, kind).method.input);
    const options = create(SubmitOptionsSchema, { maxCredits: 20 });
    return { shape, draft: draftOfRequest(shape, JSON.stringify(request), options) };
  };

  test.each([
    ['mkta', 'variant_sold', { country: 'sg', items: [{ item_id: '1', shop_id: '7' }] }],
    ['mkta', 'search_items', { urls: ['https://key/0', 'https://key/1'] }],
    ['mkta', 'get_pc', { region: 'th', item_id: '1', shop_id: '7' }],
    ['mktd', 'pdp_bulk', { items: ['sg', 'th'].map((country) => ({ ...product, country })) }],
  ])('restores the request of %s %s', (market, kind, request) => {
    const { shape, draft } = draftOfSchedule(market, kind, request);
    expect(bodyOf(shape, draft)).toEqual(request);
    expect(draft.options).toEqual({ max_credits: '20' });
  });

  test('restores the file of an upload as it was sent', async () => {
    const csv = 'shop_id;item_id\n7;1\n';
    const { shape, draft } = draftOfSchedule('mkta', 'get_pc_bulk', {
      file: Buffer.from(csv).toString('base64'),
      region: 'sg',
    });
    expect(await fileOf(shape, draft)!.text()).toBe(csv);
  });
});

describe('curlText()', () => {
  test('contains the request, quoted for a shell', () => {
    const { draft } = draftFor('mktb', 'search_bulk', [
      [{ list_type: 'search', keyword: "rak's" }],
    ]);
    const text = curlText('https://host', jobTypeOf('mktb', 'search_bulk'), {
      ...draft,
      options: { track: 'a' },
    });
    expect(text.split(' \\\n  ')).toEqual([
      "curl 'https://host/v1/mktb/search/bulk/submit?track=a'",
      '-H "Authorization: Bearer $KEY"',
      "-H 'Content-Type: application/json'",
      `--data '{"items":[{"list_type":"search","keyword":"rak'\\''s"}]}'`,
    ]);
  });

  test('reads many units, and uploads, from a file', () => {
    const many = draftFor('mktd', 'pdp_bulk', Array(101).fill([product])).draft;
    expect(curlText('https://host', jobTypeOf('mktd', 'pdp_bulk'), many)).toContain(
      '--data @request.json',
    );
    expect(requestFile(jobTypeOf('mktd', 'pdp_bulk'), many)!.name).toBe('request.json');
    const upload = draftFor('mkta', 'get_pc_bulk', [[{ item_id: '1', shop_id: '7' }, 'sg']]).draft;
    expect(curlText('https://host', jobTypeOf('mkta', 'get_pc_bulk'), upload)).toContain(
      '-F file=@items.csv',
    );
  });
});

describe('requestTextOf()', () => {
  test('returns a JSON body unchanged', async () => {
    expect(await requestTextOf('{"items": []}')).toBe('{"items": []}');
  });

  test('encodes the files of a form in base64', async () => {
    const form = new FormData();
    form.set('file', new Blob(['région\n']), 'rows.csv');
    form.set('rescrape', 'true');
    form.set('result_format', 'jsonl');
    expect(JSON.parse(await requestTextOf(form))).toEqual({
      file: Buffer.from('région\n').toString('base64'),
      rescrape: true,
      result_format: 'jsonl',
    });
  });
});
