import { restName } from '../../src/contract/rest-form.ts';
import { errorResponse } from './errors.ts';
import { having, text } from './matchers.ts';
import type { Case, Endpoint, FieldRule, ProblemRow, Submit } from './table.ts';

type Members = Readonly<Record<string, unknown>>;
type Loc = readonly (string | number)[];

/** A schedule without a run in the near future. */
export const aSchedule = {
  name: 'Prices',
  market: 'mktd',
  kind: 'pdp_bulk',
  request: { items: [{ product_id: '1729384756', country: 'id' }] },
  cron: '0 8 29 2 *',
  time_zone: 'Europe/Berlin',
};

/** Credits of the caller `poor`. */
export const poorCredits = 3;

/** Returns the cases for the request body that follow from an endpoint's fields and limits. */
export function bodyCases(endpoint: Endpoint): Case[] {
  const [{ params = {} }] = endpoint.cases;
  return casesOf(endpoint).map((row) => ({ ...row, params: { ...params, ...row.params } }));
}

function casesOf({ submit, method, cases: [good] }: Endpoint): Case[] {
  if (submit === undefined && good.body === undefined) return [];
  if (submit === undefined) return [...transportCases(good), foreignFields(good, method)];
  if (submit.takes === 'form') return noBody('multipart/form-data; boundary=x', ['body', 'file']);
  const body = good.body as Members;
  const base = [
    ...transportCases(good),
    foreignFields(good, method),
    ...noBody('application/json', ['body']),
    quotaCase('with too few credits', good, costOf(submit, body)),
    ceilingCase(good, costOf(submit, body)),
    ...maxCreditsCases(good, costOf(submit, body)),
    ...quoteCases(good, costOf(submit, body)),
  ];
  switch (submit.takes) {
    case 'one':
      return [...base, ...fieldCases(submit.fields, body, [], (one) => one)];
    case 'urls':
      return [
        ...base,
        ...listCases('urls', submit, body),
        wrongElement('urls', body, 17, 'string_type'),
      ];
    case 'items':
      return [
        ...base,
        ...listCases('items', submit, body),
        wrongElement('items', body, 'B0', 'model_attributes_type'),
        ...fieldCases(submit.fields, firstOf(body), ['items', 0], (item) => ({
          ...body,
          items: [item],
        })),
      ];
  }
}

const firstOf = (body: Members): Members => (body.items as Members[])[0]!;

function costOf(submit: Submit, body: Members): number {
  return submit.takes === 'items' || submit.takes === 'urls'
    ? submit.price * (body[submit.takes] as unknown[]).length
    : submit.price;
}

/** Creates a case that expects 402 with a QuotaErrorResponse. */
export function quotaCase(
  title: string,
  request: Omit<Case, 'title' | 'status'>,
  required: number,
): Case {
  return {
    ...request,
    title,
    caller: 'poor',
    status: 402,
    response: {
      ...errorResponse,
      required,
      current: poorCredits,
      shortfall: required - poorCredits,
    },
  };
}

/**
 * Creates a case that expects 402 for a key with a credit ceiling, of an account with enough
 * credits.
 */
function ceilingCase(good: Case, required: number): Case {
  const [max, shortfall] = [poorCredits, required - poorCredits];
  const detail = `The work costs ${required} credits. The API key's credit ceiling is ${max}, of which 0 are spent: ${shortfall} short.`;
  return {
    ...quotaCase('above the credit ceiling of the key', good, required),
    caller: 'limited',
    response: { ...errorResponse, detail, required, current: max, shortfall },
  };
}

/** Returns cases for the option `max_credits` of a submission. */
function maxCreditsCases(good: Case, required: number): Case[] {
  const max = required - 1;
  const withMax = (max_credits: string) => ({
    ...good,
    title: `max_credits=${max_credits}`,
    options: { max_credits },
  });
  const { response: _, responseHeaders: __, ...below } = withMax('-1');
  return [
    withMax(`${required}`),
    {
      ...withMax(`${max}`),
      caller: 'poor',
      status: 402,
      code: 'max_credits_exceeded',
      response: {
        ...errorResponse,
        detail: `max_credits: The work costs ${required} credits, more than the maximum of ${max}.`,
        required,
        current: poorCredits,
        shortfall: required - poorCredits,
      },
    },
    { ...below, status: 422, problems: [[['query', 'max_credits'], 'greater_than_equal']] },
    { ...good, title: 'max_age=1s', options: { max_age: '1s' } },
    ...(
      [
        ['hold', 'no.such.field:95'],
        ['only', 'changed'],
        ['deliver_to', 'nowhere'],
      ] as const
    ).map(
      ([name, value]): Case => ({
        ...below,
        title: `${name}=${value}`,
        options: { [name]: value },
        status: 422,
        problems: [[['query', name], 'value_error']],
      }),
    ),
    {
      ...below,
      title: 'max_age=soon',
      options: { max_age: 'soon' },
      status: 422,
      problems: [[['query', 'max_age'], 'string_pattern_mismatch']],
    },
  ];
}

/** Returns cases for the option `validate_only` of a submission. */
export function quoteCases(
  { title: _, response: __, responseHeaders: ___, ...good }: Case,
  cost: number,
): Case[] {
  const quoted = { ...good, status: 200, options: { validate_only: 'true' } };
  return [
    {
      ...quoted,
      title: 'validate_only',
      response: having({
        accepted: true,
        refusals: [],
        cost,
        shortfall: 0,
        over_max_credits: false,
      }),
    },
    {
      ...quoted,
      title: 'validate_only, with too few credits and above max_credits',
      caller: 'poor',
      options: { validate_only: 'true', max_credits: '0' },
      response: having({
        accepted: false,
        cost,
        balance: poorCredits,
        balance_after: poorCredits - cost,
        shortfall: cost - poorCredits,
        over_max_credits: true,
        refusals: [
          { code: 'max_credits_exceeded', message: text },
          { code: 'insufficient_credits', message: text },
        ],
      }),
    },
    {
      ...good,
      title: 'validate_only=maybe',
      options: { validate_only: 'maybe' },
      status: 422,
      problems: [[['query', 'validate_only'], 'bool_parsing']],
    },
  ];
}

/**
 * Returns cases without a body, which is missing and not malformed, with and without a media type.
 */
function noBody(type: string, missing: Loc): Case[] {
  return [type, null].map((sent) => ({
    title: `no body of type ${sent}`,
    raw: { type: sent, bytes: '' },
    status: 422,
    problems: [[missing, 'missing']],
    restOnly: true,
  }));
}

/** Fields that clients send to services of this kind. */
const commonFields = ['id', 'user_id', 'status', 'created_at', 'tags', 'metadata', 'callback_url'];

/**
 * Returns the case of a body with fields of its response, as a client that changes what it has read
 * sends it, and with fields that it does not have.
 */
function foreignFields(good: Case, method: Endpoint['method']): Case {
  const names = [...commonFields, ...(method?.output.fields ?? []).map(restName)];
  const foreign = Object.fromEntries(names.map((name) => [name, null]));
  return {
    ...good,
    title: 'with fields of its response and unknown ones',
    body: { ...foreign, ...(good.body as Members) },
    restOnly: true,
  };
}

/** Returns cases for bodies that are not JSON objects, too large, or of another media type. */
function transportCases(good: Case): Case[] {
  const json = JSON.stringify(good.body);
  const { params = {} } = good;
  const refused = (
    status: number,
    title: string,
    type: string | null,
    bytes: string | Uint8Array,
  ): Case => ({
    title,
    params,
    raw: { type, bytes },
    status,
    response: errorResponse,
    restOnly: true,
  });
  const invalid = (title: string, bytes: string, problem: ProblemRow): Case => ({
    title,
    params,
    raw: { type: 'application/json', bytes },
    status: 422,
    problems: [problem],
    restOnly: true,
  });
  return [
    {
      ...good,
      title: 'with a charset',
      body: undefined,
      raw: { type: 'application/json; charset=utf-8', bytes: json },
      restOnly: true,
    },
    refused(400, 'a truncated body', 'application/json', json.slice(0, -2)),
    refused(
      400,
      'a body that is not UTF-8',
      'application/json',
      Buffer.from([0x7b, 0x22, 0xc3, 0x22, 0x7d]),
    ),
    refused(415, 'a body of another type', 'text/plain', json),
    refused(415, 'a body without a type', null, json),
    refused(413, 'a body that is too large', 'application/json', ' '.repeat(16 * 1024 * 1024 + 1)),
    invalid('an array as the body', '[]', [['body'], 'model_attributes_type']),
    invalid('null as the body', 'null', [['body'], 'model_attributes_type']),
  ];
}

function listCases(
  name: 'items' | 'urls',
  submit: Submit & { most: number },
  body: Members,
): Case[] {
  const [element] = body[name] as unknown[];
  const most = { ...body, [name]: new Array(submit.most).fill(element) };
  const invalid = (title: string, changed: Members, type: string, restOnly = false): Case => ({
    title,
    body: changed,
    status: 422,
    problems: [[['body', name], type]],
    restOnly,
  });
  const { [name]: _, ...without } = body;
  return [
    invalid(`without ${name}`, without, 'missing', true),
    {
      ...invalid(`without ${name}, with max_credits=many`, without, 'missing', true),
      options: { max_credits: 'many' },
      problems: [
        [['body', name], 'missing'],
        [['query', 'max_credits'], 'int_parsing'],
      ],
    },
    invalid(`${name} null`, { ...body, [name]: null }, 'list_type', true),
    invalid(`${name} empty`, { ...body, [name]: [] }, 'too_short'),
    invalid(`${name} not a list`, { ...body, [name]: element }, 'list_type', true),
    invalid(
      `${submit.most + 1} ${name}`,
      { ...body, [name]: [...(most[name] as unknown[]), element] },
      'too_long',
    ),
    // A valid request that starts no work.
    quotaCase(
      `${submit.most} ${name}, with too few credits`,
      { body: most },
      submit.price * submit.most,
    ),
  ];
}

function wrongElement(name: 'items' | 'urls', body: Members, element: unknown, type: string): Case {
  return {
    title: `${JSON.stringify(element)} among the ${name}`,
    body: { ...body, [name]: [...(body[name] as unknown[]), element] },
    status: 422,
    problems: [[['body', name, (body[name] as unknown[]).length], type]],
    restOnly: true,
  };
}

/**
 * Returns cases for each field: missing, of a wrong type, and out of range; and one for unknown
 * fields.
 */
function fieldCases(
  fields: Readonly<Record<string, FieldRule>>,
  whole: Members,
  place: Loc,
  bodyOf: (members: Members) => Members,
): Case[] {
  const accepted = (title: string, members: Members, restOnly = false): Case => ({
    title,
    body: bodyOf(members),
    status: 202,
    restOnly,
  });
  const cases = [
    accepted('with additional unknown fields', { ...whole, note: { any: ['thing'] } }),
  ];
  for (const [name, rule] of Object.entries(fields)) {
    const { [name]: _, ...without } = whole;
    const refused = (value: unknown, type: string): Case => ({
      title: `${name} ${JSON.stringify(value)}`,
      body: bodyOf({ ...whole, [name]: value }),
      status: 422,
      problems: [[['body', ...place, name], type]],
      restOnly: ['missing', 'string_type', 'int_type', 'int_parsing', 'int_from_float'].includes(
        type,
      ),
    });
    if (rule.optional) {
      cases.push(
        accepted(`without ${name}`, without),
        accepted(`${name} null`, { ...whole, [name]: null }, true),
      );
    } else {
      cases.push(
        {
          title: `without ${name}`,
          body: bodyOf(without),
          status: 422,
          problems: [[['body', ...place, name], 'missing']],
        },
        refused(null, rule.is === 'integer' ? 'int_type' : 'string_type'),
      );
      const empty = rule.is === 'choice' ? 'enum' : 'string_too_short';
      if (rule.is !== 'integer') cases.push({ ...refused('', empty), restOnly: true });
    }
    cases.push(...wrongValues(rule).map(([value, type]) => refused(value, type)));
    if (rule.is === 'id') {
      cases.push(accepted(`${name} as an integer`, { ...whole, [name]: 9_007_199_254 }, true));
    }
  }
  return cases;
}

function wrongValues(rule: FieldRule): [unknown, string][] {
  switch (rule.is) {
    case 'id':
      return [
        [true, 'string_type'],
        [{}, 'string_type'],
        [['1'], 'string_type'],
        [1.5, 'string_type'],
        [2 ** 53, 'string_type'],
        ...(rule.digits ? ([['12a', 'string_pattern_mismatch']] as [unknown, string][]) : []),
      ];
    case 'text':
      return [
        [17, 'string_type'],
        [false, 'string_type'],
        [['x'], 'string_type'],
      ];
    case 'choice':
      return [
        [rule.absent, 'enum'],
        [17, 'string_type'],
        [rule.of, 'string_type'],
      ];
    case 'integer':
      return [
        ['5', 'int_parsing'],
        [1.5, 'int_from_float'],
        [true, 'int_type'],
        [rule.least - 1, 'greater_than_equal'],
        ...(rule.most === undefined
          ? []
          : ([[rule.most + 1, 'less_than_equal']] as [unknown, string][])),
      ];
  }
}
