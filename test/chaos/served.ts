import type { Origin, OriginReply, OriginRequest } from '../../sandbox/origin.ts';

/** Requests and responses of the origins for one subject (an item or a keyword). */
interface Served {
  /** Number of requests by page. A listing has several pages. */
  pages: Map<string, number>;
  /** Facts of the pages served, in the order of their first request. */
  facts: Set<string>;
}

/** Log of the origins' responses during a run. */
export interface ServedLog {
  /**
   * Wraps an origin to record its responses. `readFacts` extracts the values that a result must
   * contain.
   */
  record(origin: Origin, readFacts: (body: string) => string[]): Origin;
  facts(subject: string): string[];
  /** Returns the number of distinct pages requested for a subject. */
  pages(subject: string): number;
  /** Returns the number of requests for all subjects. */
  requests(): number;
  /** Returns the highest number of requests for one page. */
  maxRequests(): number;
}

/** Creates a log with no requests. */
export function createServedLog(): ServedLog {
  const log = new Map<string, Served>();
  const entryOf = (subject: string): Served => {
    const entry = log.get(subject) ?? { pages: new Map(), facts: new Set() };
    log.set(subject, entry);
    return entry;
  };
  const counts = () => [...log.values()].flatMap(({ pages }) => [...pages.values()]);
  return {
    record: (origin, readFacts) => ({
      ...origin,
      respond: (request: OriginRequest): OriginReply => {
        const reply = origin.respond(request);
        const subject = origin.subject?.(request);
        if (subject === undefined) return reply;
        const { pages, facts } = entryOf(subject);
        const page = request.url.pathname + request.url.search + request.body;
        pages.set(page, (pages.get(page) ?? 0) + 1);
        for (const fact of readFacts(Buffer.from(reply.body).toString())) facts.add(fact);
        return reply;
      },
    }),
    facts: (subject) => [...(log.get(subject)?.facts ?? [])],
    pages: (subject) => log.get(subject)?.pages.size ?? 0,
    requests: () => counts().reduce((sum, count) => sum + count, 0),
    maxRequests: () => Math.max(0, ...counts()),
  };
}
