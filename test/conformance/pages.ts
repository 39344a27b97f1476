import type { Case } from './table.ts';

/**
 * Creates a case for a rejected query parameter. Pass `restOnly` if a message cannot express the
 * value.
 */
export function refusedQuery(
  name: string,
  value: string,
  type: string,
  {
    restOnly = false,
    params = {},
  }: { restOnly?: boolean; params?: Readonly<Record<string, string>> } = {},
): Case {
  return {
    title: `${name} ${value.slice(0, 40)}`,
    params: { ...params, [name]: value },
    status: 422,
    problems: [[['query', name], type]],
    restOnly,
  };
}

/** Page tokens that the service did not issue. */
export const invalidTokens = ['x', '-1', 'MTIz', '9'.repeat(400), '%00\u0000', 'é'];

/** Returns the cases for invalid page parameters of a list. */
export function createPageCases(params: Readonly<Record<string, string>>): Case[] {
  return [
    refusedQuery('page_size', '-1', 'greater_than_equal', { params }),
    refusedQuery('page_size', '1001', 'less_than_equal', { params }),
    refusedQuery('page_size', 'ten', 'int_parsing', { params, restOnly: true }),
    refusedQuery('page_size', '1.5', 'int_parsing', { params, restOnly: true }),
    ...invalidTokens.map((token) =>
      refusedQuery('page_token', token, 'string_pattern_mismatch', { params }),
    ),
  ];
}

/** Cases for lists without path parameters. */
export const pageCases = createPageCases({});
