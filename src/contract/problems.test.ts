import { create, type DescMessage } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { SubmitOptionsSchema } from '../../gen/gleaner/job/v1/submit_options_pb.ts';
import {
  DownloadVariantSoldItemRequestSchema,
  MktaService,
  SubmitVariantSoldRequestSchema,
} from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { MkteService, SubmitPdpBulkRequestSchema } from '../../gen/gleaner/mkte/v1/mkte_pb.ts';
import {
  CreateUserRequestSchema,
  GrantCreditsRequestSchema,
  ListUsersRequestSchema,
} from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { ScheduleService } from '../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { Fault } from './fault.ts';
import { describePattern } from './problem-texts.ts';
import { mergeProblems, placeProblems, problemsOf, validateMessage } from './problems.ts';
import { isRequired, rulesOf } from './rules.ts';
import { services } from './services.ts';

const submit = MktaService.method.submitVariantSold;
const item = { itemId: '1', shopId: '2' };

test('returns no problems for a valid request', () => {
  expect(problemsOf(submit, create(submit.input, { items: [item] }))).toEqual([]);
});

test('describes every violated rule with its location, type and value', () => {
  const message = create(submit.input, {
    country: 'xx',
    items: [item, { itemId: 'abc', shopId: '', country: 'id' }],
  });
  expect(problemsOf(submit, message)).toEqual([
    {
      loc: ['body', 'country'],
      type: 'enum',
      msg: `Input should be 'id', 'sg', 'th', 'ph', 'my', 'vn', 'tw' or 'br', not "xx"`,
    },
    {
      loc: ['body', 'items', 1, 'item_id'],
      type: 'string_pattern_mismatch',
      msg: `String should be 1 to 20 digits, not "abc"`,
    },
    { loc: ['body', 'items', 1, 'shop_id'], type: 'missing', msg: 'Field required' },
  ]);
});

test('names the choice that a value stands for, and the fields of an address in place of an id', () => {
  const address = 'https://www.e.example.de/dp/B0GLN00001';
  const message = create(SubmitPdpBulkRequestSchema, {
    items: [{ asin: address, country: 'Germany' }],
  });
  expect(problemsOf(MkteService.method.submitPdpBulk, message).map(({ msg }) => msg)).toEqual([
    `String should be 10 letters and digits, not "${address}". Send {"country":"de","asin":"B0GLN00001"} in place of "${address}"`,
    expect.stringMatching(/'ca', not "Germany"\. Did you mean de\?$/),
  ]);
});

/** Returns the patterns of the texts of a message and of the messages inside it. */
function patternsOf(message: DescMessage, seen = new Set<DescMessage>()): string[] {
  if (seen.has(message)) return [];
  seen.add(message);
  return message.fields.flatMap((field) => {
    const { type } = rulesOf(field);
    const own = type.case === 'string' ? [type.value.pattern] : [];
    return [...own, ...(field.message ? patternsOf(field.message, seen) : [])];
  });
}

test('describes every pattern of the contract in words', () => {
  const inputs = services.flatMap(({ methods }) => methods.map(({ input }) => input));
  const patterns = [SubmitOptionsSchema, ...inputs]
    .flatMap((input) => patternsOf(input))
    .filter(Boolean);
  expect(patterns.length).toBeGreaterThan(20);
  expect(patterns.filter((pattern) => describePattern(pattern) === null)).toEqual([]);
});

test('reports lists that are too short or too long', () => {
  expect(problemsOf(submit, create(submit.input))).toEqual([
    {
      loc: ['body', 'items'],
      type: 'too_short',
      msg: 'List should have at least 1 item after validation, not 0',
    },
  ]);
  const items = Array.from({ length: 50_001 }, () =>
    create(submit.input.field.items.message!, item),
  );
  expect(problemsOf(submit, create(submit.input, { items } as never))).toEqual([
    {
      loc: ['body', 'items'],
      type: 'too_long',
      msg: 'List should have at most 50000 items after validation, not 50001',
    },
  ]);
});

test('locates path fields in the path', () => {
  const method = MktaService.method.downloadVariantSoldItem;
  expect(
    problemsOf(
      method,
      create(DownloadVariantSoldItemRequestSchema, { jobId: 'x', itemId: '' }),
    ).map(({ loc, type }) => [...loc, type]),
  ).toEqual([
    ['path', 'job_id', 'uuid_parsing'],
    ['path', 'item_id', 'string_too_short'],
  ]);
});

test('says where the job of a task number is found', () => {
  const request = create(DownloadVariantSoldItemRequestSchema, { jobId: '42', itemId: '1' });
  expect(problemsOf(MktaService.method.downloadVariantSoldItem, request)).toMatchObject([
    { msg: 'Input should be a valid UUID, not "42". GET /v1/jobs/42 returns the job_id of a task' },
  ]);
});

test('does not take the id of a schedule for the number of a task', () => {
  const { runSchedule } = ScheduleService.method;
  expect(problemsOf(runSchedule, create(runSchedule.input, { scheduleId: '42' }))).toMatchObject([
    { msg: 'Input should be a valid UUID, not "42"' },
  ]);
});

test('lists at most 100 problems', () => {
  const items = Array.from({ length: 50_000 }, () => ({ itemId: 'x', shopId: 'y' }));
  expect(problemsOf(submit, create(SubmitVariantSoldRequestSchema, { items }))).toHaveLength(100);
});

test('describes bounds and lengths of other types', () => {
  expect(
    validateMessage(ListUsersRequestSchema, create(ListUsersRequestSchema, { pageSize: 1001 })),
  ).toMatchObject([
    {
      loc: ['body', 'page_size'],
      type: 'less_than_equal',
      msg: 'Input should be less than or equal to 1000, not 1001',
    },
  ]);
  expect(
    validateMessage(ListUsersRequestSchema, create(ListUsersRequestSchema, { pageSize: -1 })),
  ).toMatchObject([{ type: 'greater_than_equal' }]);
  const grant = create(GrantCreditsRequestSchema, {
    userId: 'nobody',
    amount: -1_000_000_000_001n,
    note: 'x'.repeat(1001),
  });
  expect(validateMessage(GrantCreditsRequestSchema, grant).map(({ type }) => type)).toEqual([
    'uuid_parsing',
    'greater_than_equal',
    'string_too_long',
  ]);
  expect(validateMessage(CreateUserRequestSchema, create(CreateUserRequestSchema))).toMatchObject([
    { loc: ['body', 'name'], type: 'string_too_short' },
  ]);
});

test('truncates values in messages', () => {
  const [problem] = problemsOf(
    submit,
    create(submit.input, { country: 'y'.repeat(5000), items: [item] }),
  );
  expect(problem!.msg.length).toBeLessThan(200);
});

test('mergeProblems() returns the problems in the order of the items', () => {
  const at = (...loc: (string | number)[]) => ({ loc, msg: 'Wrong', type: 'value_error' });
  const found = [
    at('query', 'max_credits'),
    at('body', 'items', 10, 'b'),
    at('body', 'items', 3),
    at('body', 'country'),
  ];
  const violations = [at('body', 'items', 2, 'a'), at('body', 'items', 10, 'a'), at('body')];
  expect(mergeProblems(found, violations).map(({ loc }) => loc)).toEqual([
    ['query', 'max_credits'],
    ['body'],
    ['body', 'items', 2, 'a'],
    ['body', 'items', 3],
    ['body', 'items', 10, 'b'],
    ['body', 'items', 10, 'a'],
    ['body', 'country'],
  ]);
});

test('isRequired() returns true if the rules exclude the zero value', () => {
  expect(isRequired(SubmitVariantSoldRequestSchema.field.items)).toBe(true);
  expect(isRequired(SubmitVariantSoldRequestSchema.field.country)).toBe(false);
  expect(isRequired(CreateUserRequestSchema.field.name)).toBe(true);
  expect(isRequired(CreateUserRequestSchema.field.email)).toBe(false);
  expect(isRequired(GrantCreditsRequestSchema.field.userId)).toBe(true);
  expect(isRequired(ListUsersRequestSchema.field.pageSize)).toBe(false);
});

test('placeProblems() moves problems to the location of their fields and returns other errors unchanged', () => {
  const { listLedgerEntries, revokeApiKey, createApiKey } = AccountService.method;
  const found = (...loc: (string | number)[]) => Fault.invalid(loc, 'Wrong', 'value_error');
  const placed = (
    method: typeof listLedgerEntries | typeof revokeApiKey | typeof createApiKey,
    fault: Fault,
  ) => (placeProblems(method, fault) as Fault).problems.map(({ loc }) => loc);
  expect(placed(listLedgerEntries, found('body', 'page_token'))).toEqual([['query', 'page_token']]);
  expect(placed(revokeApiKey, found('body', 'key_id', 3))).toEqual([['path', 'key_id', 3]]);
  expect(placed(createApiKey, found('body', 'name'))).toEqual([['body', 'name']]);
  expect(placed(listLedgerEntries, found('header', 'page_token'))).toEqual([
    ['header', 'page_token'],
  ]);
  expect(placed(listLedgerEntries, found('body', 'other'))).toEqual([['body', 'other']]);
  for (const thrown of [new Fault('not_found', 'None.'), new Error('x'), 'text'])
    expect(placeProblems(listLedgerEntries, thrown)).toBe(thrown);
});
