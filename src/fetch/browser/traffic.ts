/** Requests of one page, and the bytes received for them. */
export interface Traffic {
  begin(id: string, type: string): void;
  /** Adds bytes received for a request, and returns the request's total. */
  add(id: string, bytes: number): number;
  end(id: string): void;
  /** Number of requests so far. */
  readonly requests: number;
  /** True while no request is in progress. */
  readonly quiet: boolean;
  /** Bytes received for all requests. */
  readonly bytes: number;
}

/** Types of requests that never end, or that rendering does not depend on. */
const ignoredTypes: readonly string[] = [
  'EventSource',
  'WebSocket',
  'Ping',
  'CSPViolationReport',
  'Prefetch',
  'Manifest',
];

/** Creates the counters of one page. */
export function createTraffic(): Traffic {
  const inProgress = new Set<string>();
  const received = new Map<string, number>();
  let bytes = 0;
  let requests = 0;
  return {
    begin: (id, type) => {
      requests += 1;
      if (!ignoredTypes.includes(type)) inProgress.add(id);
    },
    add: (id, more) => {
      bytes += more;
      const total = (received.get(id) ?? 0) + more;
      received.set(id, total);
      return total;
    },
    end: (id) => {
      inProgress.delete(id);
    },
    get requests() {
      return requests;
    },
    get quiet() {
      return inProgress.size === 0;
    },
    get bytes() {
      return bytes;
    },
  };
}
