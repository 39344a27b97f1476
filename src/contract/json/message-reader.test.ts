import type { DescMessage } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { SubmitGetPcRequestSchema } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { PdpItemSchema } from '../../../gen/gleaner/mkte/v1/mkte_pb.ts';
import { messageReader } from './message-reader.ts';
import { createReadState } from './values.ts';

const problemsOf = (schema: DescMessage, value: unknown) => {
  const state = createReadState();
  messageReader(schema)(value, state);
  return state.problems.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
};

const address = 'https://www.e.example.de/dp/B0GLN00001';
const toSend = `Send {"country":"de","asin":"B0GLN00001"} in place of "${address}"`;

describe('messageReader() says what to send', () => {
  test('in place of an address of an item', () => {
    expect(problemsOf(PdpItemSchema, { url: address, country: 'de' })).toEqual([
      `asin: Field required. ${toSend}`,
    ]);
    expect(problemsOf(PdpItemSchema, address)).toEqual([`: Input should be an object. ${toSend}`]);
    expect(problemsOf(PdpItemSchema, { note: 'B0GLN00001', country: 'de' })).toEqual([
      'asin: Field required',
    ]);
  });

  test('in place of a value that is not a string', () => {
    const options = { track: true, max_age: 6, deliver_to: ['a'], hold: {} };
    expect(problemsOf(SubmitOptionsSchema, options)).toEqual([
      'track: Input should be a valid string, such as "true", not true',
      'deliver_to: Input should be a valid string, not a list',
      'hold: Input should be a valid string',
      'max_age: Input should be a valid string, such as "6", not 6',
    ]);
  });

  test('in place of a name that is spelled alike', () => {
    expect(problemsOf(PdpItemSchema, { ASIN: 'B0GLN00001', country: 'de', asins: 1 })).toEqual([
      'asin: Field required. Send "asin" in place of "ASIN"',
    ]);
    const camelCase = { itemId: '42', shopId: '7', region: 'id' };
    expect(problemsOf(SubmitGetPcRequestSchema, camelCase)).toEqual([
      'item_id: Field required. Send "item_id" in place of "itemId"',
      'shop_id: Field required. Send "shop_id" in place of "shopId"',
    ]);
  });
});
