import type { Origin, OriginReply, OriginRequest } from '../../sandbox/origin.ts';

/** What the origins were asked for about one subject (an item, a keyword), and what they served. */
interface Served {
  /** Requests by what exactly was asked for: a listing has several pages. */
  pages: Map<string, number>;
  /** Facts of the pages served, in the order of their first request. */
  facts: Set<string>;
}

/** The origins' own record of a run. */
export interface ServedLog {
  /** Wraps an origin so that its answers are recorded; `readFacts` extracts what a result must repeat. */
  record(origin: Origin, readFacts: (body: string) => string[]): Origin;
  facts(subject: string): string[];
  /** Distinct pages requested about a subject. */
  pages(subject: string): number;
  /** Requests about all subjects. */
  requests(): number;
  /** Highest number of requests for one page. */
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
      answer: (request: OriginRequest): OriginReply => {
        const reply = origin.answer(request);
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
