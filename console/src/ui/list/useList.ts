import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type SkipToken, skipToken } from '@tanstack/react-query';
import { pollMs } from '../queries.ts';

/** Pages of a list, as the options of its query see them. */
interface Pages<Page> {
  state: { data?: { pages: Page[] } | undefined };
}

interface ListOptions<Page> {
  /** Milliseconds between polls, by default those of lists; false to stop polling. */
  refetchInterval?: number | false | ((query: Pages<Page>) => number | false);
  /** Keeps the rows of the last request on screen until those of the next one arrive. */
  keepsRows?: boolean;
  staleTime?: number | 'static';
}

/**
 * Loads the rows of a list method page by page, and polls them. `rowsOf` returns the rows of a page; `first`
 * is the first page.
 */
export function useList<I extends DescMessage, O extends DescMessage, Row>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I> | SkipToken,
  rowsOf: (page: MessageShape<O>) => readonly Row[],
  { keepsRows = false, ...options }: ListOptions<MessageShape<O>> = {},
) {
  const input = request === skipToken ? skipToken : { pageSize: 50, ...(request as object), pageToken: '' };
  const query = useInfiniteQuery(method, input as never, {
    pageParamKey: 'pageToken' as never,
    getNextPageParam: (page) => ((page as { nextPageToken?: string }).nextPageToken || undefined) as never,
    refetchInterval: pollMs.list,
    ...(options as object),
    ...(keepsRows ? { placeholderData: (previous: unknown) => previous as never } : {}),
  });
  const pages = (query.data?.pages ?? []) as MessageShape<O>[];
  return { query, rows: pages.flatMap((page) => [...rowsOf(page)]), first: pages[0] };
}
