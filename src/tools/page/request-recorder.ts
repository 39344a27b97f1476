import diagnostics from 'node:diagnostics_channel';
import { PerformanceObserver, performance } from 'node:perf_hooks';

/**
 * An HTTP request as it was sent, including those for robots.txt and redirects. Times are in
 * milliseconds.
 */
export interface RecordedExchange {
  method: string;
  url: string;
  /** Lines of the request's head as sent. */
  head: string[];
  /** Null on a reused connection, or if unknown. */
  nameMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  /** Time from the request to the first byte of the response. Null if there is no response. */
  firstByteMs: number | null;
  totalMs: number | null;
  status: number | null;
  error: string | null;
}

export interface RequestRecorder {
  /** Returns the requests so far, in order. */
  exchanges(): RecordedExchange[];
  stop(): void;
}

interface Seen extends Pick<RecordedExchange, 'method' | 'url' | 'head' | 'status' | 'error'> {
  request: object;
  created: number;
  sent: number | null;
  connected: number | null;
  firstByte: number | null;
  ended: number | null;
}

interface HttpRequest {
  origin: string | URL;
  path: string;
  method: string;
}

/**
 * Records this process's HTTP requests, as undici and Node publish them (node:diagnostics_channel).
 */
export function recordRequests(): RequestRecorder {
  const seen = new Map<object, Seen>();
  const spans: { type: string; start: number; ms: number }[] = [];
  let connected: number | null = null;
  const observer = new PerformanceObserver((list) => keep(list.getEntries()));
  const keep = (entries: readonly { entryType: string; startTime: number; duration: number }[]) => {
    for (const { entryType, startTime, duration } of entries) {
      spans.push({ type: entryType, start: startTime, ms: duration });
    }
  };
  observer.observe({ entryTypes: ['dns', 'net'] });

  const of = (message: unknown) => seen.get((message as { request: object }).request);
  const listeners: Record<string, (message: unknown) => void> = {
    'undici:request:create': (message) => {
      const { request } = message as { request: HttpRequest };
      seen.set(request, {
        request,
        method: request.method,
        url: `${request.origin}${request.path}`,
        head: [],
        created: performance.now(),
        sent: null,
        connected: null,
        firstByte: null,
        ended: null,
        status: null,
        error: null,
      });
    },
    'undici:client:connected': () => {
      connected = performance.now();
    },
    'undici:client:sendHeaders': (message) => {
      const exchange = of(message);
      if (!exchange) return;
      exchange.sent = performance.now();
      exchange.connected = connected;
      connected = null;
      exchange.head = String((message as { headers: string }).headers)
        .split('\r\n')
        .filter((line) => line !== '');
    },
    'undici:request:headers': (message) => {
      const exchange = of(message);
      if (!exchange) return;
      exchange.firstByte = performance.now();
      exchange.status = (message as { response: { statusCode: number } }).response.statusCode;
    },
    'undici:request:trailers': (message) => {
      const exchange = of(message);
      if (exchange) exchange.ended = performance.now();
    },
    'undici:request:error': (message) => {
      const exchange = of(message);
      if (!exchange) return;
      exchange.ended = performance.now();
      exchange.error = (message as { error: Error }).error.message;
    },
  };
  for (const [name, listener] of Object.entries(listeners)) diagnostics.subscribe(name, listener);

  const within = (exchange: Seen, type: string): number | null => {
    const found = spans.find(
      (span) =>
        span.type === type &&
        span.start >= exchange.created - 1 &&
        span.start <= (exchange.sent ?? Number.POSITIVE_INFINITY),
    );
    return found?.ms ?? null;
  };
  const recorded = (exchange: Seen): RecordedExchange => {
    const { method, url, head, created, sent, firstByte, ended, status, error } = exchange;
    const isNew = exchange.connected !== null || sent === null;
    const connectMs = isNew ? within(exchange, 'net') : null;
    const nameMs = isNew ? within(exchange, 'dns') : null;
    const isTls = url.startsWith('https:') && exchange.connected !== null && connectMs !== null;
    return {
      method,
      url,
      head,
      nameMs,
      connectMs,
      tlsMs: isTls ? Math.max(0, exchange.connected! - created - connectMs! - (nameMs ?? 0)) : null,
      firstByteMs: firstByte === null ? null : firstByte - (sent ?? created),
      totalMs: ended === null ? null : ended - created,
      status,
      error,
    };
  };
  return {
    exchanges: () => {
      keep(observer.takeRecords());
      return [...seen.values()].map(recorded);
    },
    stop: () => {
      observer.disconnect();
      for (const [name, listener] of Object.entries(listeners))
        diagnostics.unsubscribe(name, listener);
    },
  };
}
