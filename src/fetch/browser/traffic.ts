/** What a page has under way, and how much came. */
export interface Traffic {
  begin(id: string, sort: string): void;
  /** Takes so many bytes of a request's answer; returns all that came for it. */
  add(id: string, bytes: number): number;
  end(id: string): void;
  /** Requests so far. */
  readonly requests: number;
  /** Nothing is under way. */
  readonly quiet: boolean;
  /** Bytes of everything that the page loaded. */
  readonly bytes: number;
}

/** Sorts of requests that have no end of their own, or that nothing waits for. */
const endless: readonly string[] = [
  'EventSource',
  'WebSocket',
  'Ping',
  'CSPViolationReport',
  'Prefetch',
  'Manifest',
];

/** Makes the account of one page's requests. */
export function createTraffic(): Traffic {
  const underWay = new Set<string>();
  const loaded = new Map<string, number>();
  let bytes = 0;
  let requests = 0;
  return {
    begin: (id, sort) => {
      requests += 1;
      if (!endless.includes(sort)) underWay.add(id);
    },
    add: (id, more) => {
      bytes += more;
      const all = (loaded.get(id) ?? 0) + more;
      loaded.set(id, all);
      return all;
    },
    end: (id) => {
      underWay.delete(id);
    },
    get requests() {
      return requests;
    },
    get quiet() {
      return underWay.size === 0;
    },
    get bytes() {
      return bytes;
    },
  };
}
