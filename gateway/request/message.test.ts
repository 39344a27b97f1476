import {
  clone,
  create,
  type DescField,
  type DescMessage,
  equals,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ApiKeySchema,
  CreateApiKeyRequestSchema,
} from '../../gen/gleaner/account/v1/account_pb.ts';
import {
  CreateRuleRequestSchema,
  RuleSchema,
  UpdateRuleRequestSchema,
} from '../../gen/gleaner/history/v1/history_pb.ts';
import {
  CreateScheduleRequestSchema,
  ScheduleSchema,
  UpdateScheduleRequestSchema,
} from '../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { membersReader, messageReader } from '../../src/contract/json/message-reader.ts';
import { messageWriter } from '../../src/contract/json/message-writer.ts';
import { createReadState, parseJson } from '../../src/contract/json/values.ts';
import { restName } from '../../src/contract/rest-form.ts';
import { rulesOf } from '../../src/contract/rules.ts';
import { checkProperty } from '../../test/support/run/properties.ts';
import { shopMessage } from '../fixture/shop.ts';

const request = shopMessage('PlaceOrderRequest');

test('messages round-trip through their REST form', () => {
  const write = messageWriter(request);
  const read = messageReader(request);
  checkProperty(
    fc.property(messages(request, 1), (message) => {
      const state = createReadState(['body']);
      const again = read(parseJson(write(message)), state);
      expect(state.problems).toEqual([]);
      expect(equals(request, again as Message, message)).toBe(true);
    }),
    200,
  );
});

test('messageReader() reads any JSON or reports problems located in the body', () => {
  const read = messageReader(request);
  checkProperty(
    fc.property(likelyBodies(), (body) => {
      const state = createReadState(['body']);
      const message = read(parseJson(JSON.stringify(body)), state);
      expect(state.path).toEqual(['body']);
      expect(state.problems.length <= 100).toBe(true);
      for (const problem of state.problems) expect(problem.loc[0]).toBe('body');
      if (state.problems.length === 0) expect(clone(request, message as never)).toEqual(message);
    }),
    300,
  );
});

test('messageWriter() writes valid JSON for any text', () => {
  const write = messageWriter(shopMessage('Order'));
  checkProperty(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.double(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      (text, data, progress, number) => {
        const order = create(shopMessage('Order'), {
          status: text,
          data,
          progress,
          number,
          labels: { [text]: text },
        } as never);
        const parsed = JSON.parse(write(order));
        expect(parsed).toMatchObject({
          status: text,
          data: JSON.parse(data),
          progress: Number.isFinite(progress) ? progress + 0 : null,
        });
        expect(BigInt(parsed.number)).toBe(number);
        expect(Object.keys(parsed.labels)).toEqual([text]);
      },
    ),
  );
});

/** Generates messages of a type from its descriptor. */
function messages(schema: DescMessage, depth: number): fc.Arbitrary<Message> {
  const fields = schema.fields.filter((field) => depth > 0 || field.message !== request);
  const members = fields.map((field) => [field, member(field, depth)] as const);
  return fc
    .record(Object.fromEntries(members.map(([field, values]) => [field.name, values])))
    .map((values) => {
      const init: Record<string, unknown> = {};
      for (const field of fields) {
        const value = values[field.name];
        if (value === undefined) continue;
        if (field.oneof === undefined) init[field.localName] = value;
        else init[field.oneof.localName] = { case: field.localName, value };
      }
      return create(schema, init as never);
    });
}

function member(field: DescField, depth: number): fc.Arbitrary<unknown> {
  const minLength = rulesOf(field).required ? 1 : 0;
  if (field.fieldKind === 'list')
    return fc.array(element(field, depth), { minLength, maxLength: 3 });
  if (field.fieldKind === 'map')
    return fc
      .dictionary(fc.string(), element(field, depth), { maxKeys: 3 })
      .map((entries) => ({ ...entries }));
  const presence =
    field.oneof !== undefined || field.proto.proto3Optional || field.message !== undefined;
  return presence ? fc.option(element(field, depth), { nil: undefined }) : element(field, depth);
}

function element(field: DescField, depth: number): fc.Arbitrary<unknown> {
  if (field.message?.typeName === 'google.protobuf.Timestamp') {
    return fc
      .date({
        min: new Date('0001-01-01T00:00:00Z'),
        max: new Date('9999-12-31T23:59:59Z'),
        noInvalidDate: true,
      })
      .map((date) => ({
        $typeName: 'google.protobuf.Timestamp',
        seconds: BigInt(Math.floor(date.getTime() / 1000)),
        nanos: (((date.getTime() % 1000) + 1000) % 1000) * 1_000_000,
      }));
  }
  if (field.message !== undefined) return messages(field.message, depth - 1);
  if (field.enum !== undefined)
    return fc.constantFrom(...field.enum.values.map((value) => value.number));
  switch (field.scalar) {
    case ScalarType.STRING:
      return fc.string({ unit: 'grapheme', minLength: rulesOf(field).required ? 1 : 0 });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 20 });
    case ScalarType.DOUBLE:
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
    case ScalarType.INT64:
      return fc.bigInt({
        min: BigInt(Number.MIN_SAFE_INTEGER),
        max: BigInt(Number.MAX_SAFE_INTEGER),
      });
    case ScalarType.UINT32:
      return fc.nat();
    default:
      return fc.integer();
  }
}

/** Generates JSON values that often use member names of a request. */
function likelyBodies(): fc.Arbitrary<unknown> {
  const names = fc.oneof(
    fc.constantFrom(
      ...request.fields.map((field) => field.name),
      'item_id',
      'shop_id',
      '__proto__',
      'constructor',
    ),
    fc.string(),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.jsonValue({ maxDepth: 0 }),
      tie('list'),
      tie('members'),
    ),
    list: fc.array(tie('value'), { maxLength: 4 }),
    members: fc
      .array(fc.tuple(names, tie('value')), { maxLength: 6 })
      .map((entries) => Object.fromEntries(entries)),
  }));
  return value;
}

test('misspelled fields of a schedule are problems, and other unknown fields are ignored', () => {
  const read = membersReader(CreateScheduleRequestSchema.fields);
  const state = createReadState(['body']);
  const body = { name: 'a', market: 'mktb', kind: 'pdp_bulk', cron: '@daily', request: {} };
  const unknown = { timezone: 'Asia/Jakarta', max_total_credit: 5, colour: 'red', names: 'b' };
  read({ ...body, ...unknown }, create(CreateScheduleRequestSchema), state);
  expect(state.problems.map(({ loc, msg }) => [loc, msg])).toEqual([
    [['body', 'timezone'], 'The field "timezone" is unknown. Did you mean time_zone?'],
    [
      ['body', 'max_total_credit'],
      'The field "max_total_credit" is unknown. Did you mean max_total_credits?',
    ],
  ]);
  expect([...state.ignored]).toEqual(['colour', 'names']);
});

test.each([
  ['a schedule', UpdateScheduleRequestSchema, ScheduleSchema],
  ['a rule', UpdateRuleRequestSchema, RuleSchema],
  ['a rule as a new one', CreateRuleRequestSchema, RuleSchema],
  ['an API key as a new one', CreateApiKeyRequestSchema, ApiKeySchema],
])('%s can be sent back as it was read', (_, request, response) => {
  const read = membersReader(request.fields);
  const state = createReadState(['body']);
  const names = response.fields.map(restName);
  for (const absent of ['', ...names]) {
    const body = Object.fromEntries(
      names.filter((name) => name !== absent).map((name) => [name, null]),
    );
    read(body, create(request), state);
  }
  expect(state.problems.filter(({ type }) => type === 'extra_forbidden')).toEqual([]);
});

test('unknown options of a submission in a body are problems, with or without X-Strict', () => {
  const read = messageReader(CreateScheduleRequestSchema);
  const state = createReadState(['body']);
  const body = { name: 'a', market: 'mktb', kind: 'pdp_bulk', cron: '@daily', request: {} };
  read({ ...body, colour: 'red', options: { max_credits: 5, max_credit: 5 } }, state);
  expect(state.problems).toEqual([
    {
      loc: ['body', 'options', 'max_credit'],
      type: 'extra_forbidden',
      msg: 'The option "max_credit" is unknown. Did you mean max_credits?',
    },
  ]);
  expect([...state.ignored]).toEqual(['colour']);
});
