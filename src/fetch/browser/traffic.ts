/** A request of a page. */
export interface TrafficRequest {
  id: string;
  /** Type in the DevTools protocol: "Fetch", "Script", … */
  type: string;
  method: string;
  url: string;
  body?: string | undefined;
  /** True for the request whose response is wanted. */
  isWanted: boolean;
}

/** Requests of one page, and the bytes received for them. */
export interface Traffic {
  /** Adds a request. Returns true if rendering may depend on it. */
  begin(request: TrafficRequest): boolean;
  /** Adds bytes received for a request, and returns the request's total. */
  add(id: string, bytes: number): number;
  /** Ends a request. Returns true if rendering may have depended on it. */
  end(id: string): boolean;
  /** Number of requests so far. */
  readonly requests: number;
  /** True while no request is in progress on which rendering may depend. */
  readonly quiet: boolean;
  /** True while a request whose response is wanted is in progress. */
  readonly awaitsWanted: boolean;
  /** Bytes received for all requests. */
  readonly bytes: number;
}

/**
 * Types of requests that never end, whose end is not reported, or that rendering does not depend
 * on.
 */
const ignoredTypes: readonly string[] = [
  'EventSource',
  'WebSocket',
  'Ping',
  'CSPViolationReport',
  'Prefetch',
  'Manifest',
  // Scripts of workers, and icons.
  'Other',
];

/** Identical requests after which further ones are a poll. */
const maxRepeats = 2;

/** Time after which a request is a long poll, in milliseconds. */
const longMs = 3_000;

/** Request in progress. */
interface PendingRequest {
  startedAt: number;
  isWanted: boolean;
}

/** Creates the counters of one page. `now`: a monotonic time in milliseconds. */
export function createTraffic(now: () => number): Traffic {
  const pending = new Map<string, PendingRequest>();
  const received = new Map<string, number>();
  /** Numbers of identical requests. */
  const repeats = new Map<string, number>();
  let bytes = 0;
  let requests = 0;

  const isPoll = ({ method, url, body = '' }: TrafficRequest) => {
    const key = `${method} ${url}\n${body}`;
    const count = (repeats.get(key) ?? 0) + 1;
    repeats.set(key, count);
    return count > maxRepeats;
  };
  const isShort = ({ startedAt, isWanted }: PendingRequest) =>
    isWanted || now() - startedAt < longMs;
  return {
    begin: (request) => {
      requests += 1;
      const { id, type, isWanted } = request;
      if (!isWanted && (ignoredTypes.includes(type) || isPoll(request))) return false;
      pending.set(id, { startedAt: now(), isWanted });
      return true;
    },
    add: (id, more) => {
      bytes += more;
      const total = (received.get(id) ?? 0) + more;
      received.set(id, total);
      return total;
    },
    end: (id) => pending.delete(id),
    get requests() {
      return requests;
    },
    get quiet() {
      return !pending.values().some(isShort);
    },
    get awaitsWanted() {
      return pending.values().some(({ isWanted }) => isWanted);
    },
    get bytes() {
      return bytes;
    },
  };
}
