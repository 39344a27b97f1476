import type { Fetcher } from '../../fetch/http.ts';
import type { FetchPage } from '../../fetch/page.ts';
import { attribute, ownAttribute } from '../../telemetry/attributes.ts';
import { failSpan, inSpan } from '../../telemetry/trace.ts';

/**
 * Wraps a fetcher so that each request to an origin has a span. The request carries no trace context: an origin is a
 * stranger (docs/operate.md).
 */
export function traceFetcher(fetcher: Fetcher): Fetcher {
  const traced = (market: string, region: string, fetchPage: FetchPage): FetchPage => {
    return (request) => {
      const { method = 'GET', path } = request;
      const url = new URL(fetcher.originOf(market, region, request));
      const attributes = {
        [attribute.httpMethod]: method,
        [attribute.urlFull]: url.origin + path,
        [attribute.serverAddress]: url.hostname,
        [attribute.serverPort]: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
        [ownAttribute.market]: market,
        [ownAttribute.region]: region,
      };
      return inSpan(method, { kind: 'client', attributes }, async (span) => {
        const response = await fetchPage(request);
        span.setAttribute(attribute.httpStatus, response.status);
        if (response.status >= 400) failSpan(span, String(response.status));
        return response;
      });
    };
  };
  return {
    ...fetcher,
    for: (market, region, signal, share) =>
      traced(market, region, fetcher.for(market, region, signal, share)),
  };
}
