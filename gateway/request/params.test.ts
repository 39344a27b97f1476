import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { createReadState } from '../../src/contract/json/values.ts';
import { shopMessage } from '../fixture/shop.ts';
import type { FormPart } from './form.ts';
import { formReader, queryReader } from './params.ts';

/** Reads a query into a message of shop.proto. */
function fromQuery(name: string, query: string) {
  const schema = shopMessage(name);
  const message = create(schema);
  const state = createReadState();
  queryReader(schema.fields)(new URLSearchParams(query), message, state);
  return { message, problems: state.problems, path: state.path };
}

/** Reads parts of a form into some fields of a message of shop.proto. */
function fromForm(name: string, fieldNames: string[], parts: Record<string, FormPart[]>) {
  const schema = shopMessage(name);
  const message = create(schema);
  const state = createReadState();
  const fields = schema.fields.filter((field) => fieldNames.includes(field.name));
  formReader(fields)(new Map(Object.entries(parts)), message, state);
  return { message, problems: state.problems, path: state.path };
}

describe('queryReader()', () => {
  test('rejects a query without the required fields', () => {
    const { problems, path } = fromQuery('Line', '');
    expect(problems).toEqual([
      { loc: ['query', 'item_id'], type: 'missing', msg: 'Field required' },
      { loc: ['query', 'shop_id'], type: 'missing', msg: 'Field required' },
    ]);
    expect(path).toEqual([]);
  });

  test('rejects an empty text for a required field only', () => {
    expect(fromQuery('Line', 'item_id=&shop_id=1').problems).toMatchObject([
      { loc: ['query', 'item_id'], type: 'string_too_short' },
    ]);
    expect(fromQuery('GetOrderRequest', 'number=').problems).toMatchObject([
      { loc: ['query', 'number'], type: 'int_parsing' },
    ]);
    const optional = fromQuery('PlaceOrderRequest', 'country=');
    expect([optional.problems, optional.message]).toMatchObject([[], { country: '' }]);
    expect(fromQuery('Line', 'item_id=x&shop_id=1').message).toMatchObject({
      itemId: 'x',
      shopId: '1',
    });
  });

  test.each(['0x10', '0b1', '', ' 1', 'Infinity', '1_0', '.'])('refuses %j as a number', (text) => {
    const query = new URLSearchParams({ weight: text }).toString();
    expect(fromQuery('PlaceOrderRequest', query).problems).toContainEqual(
      expect.objectContaining({ loc: ['query', 'weight'], type: 'float_parsing' }),
    );
  });

  test.each(['1', '-0.5', '.5', '1.', '1e3'])('accepts %j as a number', (text) => {
    const query = new URLSearchParams({ weight: text }).toString();
    const found = fromQuery('PlaceOrderRequest', query);
    expect((found.message as unknown as { weight: number }).weight).toBe(Number(text));
  });

  test('rejects a repeated parameter of a field with a single value', () => {
    const { problems, path } = fromQuery('Line', 'item_id=1&shop_id=2&item_id=1');
    expect(problems).toEqual([
      {
        loc: ['query', 'item_id'],
        type: 'value_error',
        msg: 'Input should be sent once, not 2 times',
      },
    ]);
    expect(path).toEqual([]);
    const state = createReadState();
    const { fields } = shopMessage('ListOrdersResponse');
    queryReader(fields, ['wait'])(
      new URLSearchParams('wait=1&numbers=1&numbers=2&wait=1'),
      create(shopMessage('ListOrdersResponse')),
      state,
    );
    expect(state.problems).toMatchObject([{ loc: ['query', 'wait'], type: 'value_error' }]);
  });

  test('shows an integer out of range as it was written, shortened', () => {
    const [exact] = fromQuery('GetOrderRequest', 'number=9007199254740993').problems;
    expect(exact!.msg).toMatch(/not 9007199254740993$/);
    const [long] = fromQuery('GetOrderRequest', `number=${'1'.repeat(4000)}`).problems;
    expect(long!.msg).toMatch(/not 1{100}…$/);
  });

  test('reports the invalid elements of a list and sets none of them', () => {
    const wrong = fromQuery('ListOrdersResponse', 'numbers=1&numbers=x&numbers=3&numbers=y');
    expect(wrong.problems).toMatchObject([
      { loc: ['query', 'numbers', 1], type: 'int_parsing' },
      { loc: ['query', 'numbers', 3], type: 'int_parsing' },
    ]);
    expect(wrong.message).toMatchObject({ numbers: [] });
    expect(wrong.path).toEqual([]);
    expect(fromQuery('ListOrdersResponse', 'numbers=1&numbers=2').message).toMatchObject({
      numbers: [1n, 2n],
    });
  });

  test('ignores fields that have no text form', () => {
    const { message, problems } = fromQuery(
      'PlaceOrderRequest',
      'labels=a&card=b&inner=c&gift=yes',
    );
    expect([message, problems]).toMatchObject([{ labels: {}, gift: true, pages: 7 }, []]);
  });
});

describe('formReader()', () => {
  test('accepts a missing optional file and refuses several', () => {
    const none = fromForm('PlaceOrderRequest', ['card'], {});
    expect([none.problems, none.path]).toEqual([[], []]);
    const card = ['a', 'b'].map((text) => ({ kind: 'file' as const, bytes: Buffer.from(text) }));
    const several = fromForm('PlaceOrderRequest', ['card'], { card });
    expect([several.problems, several.path]).toEqual([
      [
        {
          loc: ['body', 'card'],
          type: 'value_error',
          msg: 'Input should be sent once, not 2 times',
        },
      ],
      [],
    ]);
  });

  test('describes the expected part', () => {
    const parts: Record<string, FormPart[]> = {
      file: [{ kind: 'text', text: 'a' }],
      result_format: [
        { kind: 'text', text: 'csv' },
        { kind: 'file', bytes: Buffer.from('b') },
      ],
    };
    const { problems, path } = fromForm('UploadOrderRequest', ['file', 'result_format'], parts);
    expect(problems).toEqual([
      {
        loc: ['body', 'file'],
        type: 'value_error',
        msg: expect.stringContaining('a part of the form with a filename'),
      },
      {
        loc: ['body', 'result_format'],
        type: 'string_type',
        msg: 'Input should be a text field of the form, not a file',
      },
    ]);
    expect(path).toEqual([]);
  });

  test('throws for a field without a form representation', () => {
    expect(() => fromForm('PlaceOrderRequest', ['labels'], {})).toThrow(
      /labels.* has no text form/,
    );
  });
});
