import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type SkipToken, skipToken, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useSearchParams } from 'react-router';
import { pollMs } from '../queries.ts';

/** Pages of a list, as the options of its query see them. */
interface Pages<Page> {
  state: { data?: { pages: Page[] } | undefined };
}

interface ListOptions<Page> {
  /** Milliseconds between polls, by default the interval of lists; false to stop polling. */
  refetchInterval?: number | false | ((query: Pages<Page>) => number | false);
  /** Keeps the rows on screen until the next ones arrive. */
  keepsRows?: boolean;
  staleTime?: number | 'static';
}

/**
 * Loads the rows of a list method page by page, and polls them. `rowsOf` returns the rows of a
 * page; `first` is the first page.
 */
export function useList<I extends DescMessage, O extends DescMessage, Row>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I> | SkipToken,
  rowsOf: (page: MessageShape<O>) => readonly Row[],
  { keepsRows = false, ...options }: ListOptions<MessageShape<O>> = {},
) {
  const input =
    request === skipToken ? skipToken : { pageSize: 50, ...(request as object), pageToken: '' };
  const query = useInfiniteQuery(method, input as never, {
    pageParamKey: 'pageToken' as never,
    getNextPageParam: (page) =>
      ((page as { nextPageToken?: string }).nextPageToken || undefined) as never,
    refetchInterval: pollMs.list,
    ...(options as object),
    ...(keepsRows ? { placeholderData: (previous: unknown) => previous as never } : {}),
  });
  const pages = (query.data?.pages ?? []) as MessageShape<O>[];
  return { query, rows: pages.flatMap((page) => [...rowsOf(page)]), first: pages[0] };
}

/** Returns a function that reloads all data on screen, to call after a change. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return useCallback(() => client.invalidateQueries(), [client]);
}

/**
 * Returns the filter of a list, which the address keeps, and a function that replaces it. `empty`
 * matches all; an empty text is no filter.
 */
export function useAddressFilter<Filter extends object>(
  empty: Filter,
): [filter: Filter, change: (filter: Filter) => void] {
  const [parameters, setParameters] = useSearchParams();
  const filter = Object.fromEntries(
    Object.keys(empty).map((name) => [name, parameters.get(name) ?? '']),
  );
  const change = (next: Filter) =>
    setParameters(Object.fromEntries(Object.entries(next).filter(([, value]) => value !== '')), {
      replace: true,
    });
  return [filter as Filter, change];
}
