import type { Case } from './table.ts';

/** A parameter of the query that is refused; `restOnly` where a message can't say it. */
export function refusedQuery(
  name: string,
  value: string,
  type: string,
  { restOnly = false, params = {} }: { restOnly?: boolean; params?: Readonly<Record<string, string>> } = {},
): Case {
  return {
    title: `${name} ${value.slice(0, 40)}`,
    params: { ...params, [name]: value },
    status: 422,
    problems: [[['query', name], type]],
    restOnly,
  };
}

/** A token that leads to no place in a list, whatever is done to it. */
const tampered = ['x', '-1', 'MTIz', '9'.repeat(400), '%00\u0000', 'é'];

/** What every list refuses of its page's parameters. */
export function pageCasesOf(params: Readonly<Record<string, string>>): Case[] {
  return [
    refusedQuery('page_size', '-1', 'greater_than_equal', { params }),
    refusedQuery('page_size', '1001', 'less_than_equal', { params }),
    refusedQuery('page_size', 'ten', 'int_parsing', { params, restOnly: true }),
    refusedQuery('page_size', '1.5', 'int_parsing', { params, restOnly: true }),
    ...tampered.map((token) => refusedQuery('page_token', token, 'value_error', { params })),
  ];
}

/** The same for lists whose path names nothing. */
export const pageCases = pageCasesOf({});
