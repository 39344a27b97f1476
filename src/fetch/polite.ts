import type { Clock } from '../base/clock.ts';
import { type NewId, newId, sha256 } from '../base/id.ts';
import type { Log } from '../base/log.ts';
import type { Origins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import type { PermitRequest } from './concurrency-limit.ts';
import type { Fetcher } from './http.ts';
import { defaultMarketLimits, type MarketLimits } from './limits.ts';
import { type Manners, type MannersOptions, rememberManners } from './manners.ts';
import type { FetchPage, PageAnswer, PageRequest } from './page.ts';
import type { PageMemory, PageShare } from './page-memory.ts';
import { type OriginPolicy, originPolicy, requestsAtOnce } from './policy.ts';
import { followingRedirects } from './redirects.ts';
import { type Verdict, verdictOf, verdictOfStatus } from './request-outcome.ts';
import type { RequestPlace, RequestWatch } from './request-watch.ts';
import { createRobots } from './robots.ts';
import { createUnitUsage } from './unit-usage.ts';

/** What politeness is made of. */
export interface PoliteOptions {
  fetcher: Fetcher;
  origins: Origins;
  store: MannersOptions['store'];
  clock: Clock;
  log: Log;
  /** Its product is what robots.txt files call us. */
  userAgent: string;
  newId?: NewId;
  random?: () => number;
  firstPauseMs?: number;
  /** Is told of every request. */
  watch?: RequestWatch;
  /** What a market's site may send and take for one unit; the defaults when absent. */
  limitsOf?: (market: string) => MarketLimits;
  /** Returns the policy that a market declares for its origins. */
  policyOf: (market: string) => Partial<OriginPolicy>;
  /** What pages of all visits are held in; unbounded when absent. */
  memory?: PageMemory;
}

/** Reading one unit: the requests that it takes, and what they came to. */
export interface Visit {
  fetch: FetchPage;
  /** Takes the end of it: null where the reader was content with all it got. An origin that refuses or
   *  fails is left alone (docs/fetching.md); one that blocks is not shown its cookies again. Never rejects. */
  ended(fault: Fault | null): Promise<void>;
}

/** Pages, asked for politely. */
export interface PolitePages {
  /** Begins to read one unit from a market's origin of a region, or from a store named by a caller. Of the origin's
   *  permits in this process urgent requests get theirs first, and users get equal shares. */
  visit(market: string, region: string, signal?: AbortSignal, caller?: PermitRequest): Visit;
  /** Requests that an origin of the market can have under way at once, over all workers together. */
  concurrency(market: string): number;
  /** Gives back what is held of origins. */
  close(): Promise<void>;
}

/** How long a visit waits for an origin that is left alone: at its beginning, and once it has read some. */
const patienceMs = { atFirst: 5_000, midway: 60_000 };

/** Redirects that are followed for a robots.txt (RFC 9309, 2.3.1.2). */
const mostRobotsRedirects = 5;

/** A request that was sent, and what is to be said of it. */
interface Sent {
  manners: Manners;
  place: RequestPlace;
  page: string;
  probe: boolean;
  judged: boolean;
}

/** What tells one page of an origin from another. */
function pageOf({ path, body }: PageRequest): string {
  return body === undefined ? path : `${path} ${sha256(body)}`;
}

/**
 * Makes polite visits over a fetcher: at each origin so many requests at once and so many a second over
 * all workers, none while it is left alone, and only what its robots.txt allows where that is respected
 * (DESIGN, "Politeness"; docs/fetching.md). A fetch rejects with the signal's reason when aborted
 * while it waits. Faults beside the fetcher's: `origin_paused` for an origin that is left alone for longer
 * than is worth waiting, `robots_disallowed`, `unavailable` when the store does not answer.
 */
export function createPolitePages(options: PoliteOptions): PolitePages {
  const { fetcher, origins, store, clock, log, userAgent, watch } = options;
  const everywhere = rememberManners({
    store,
    clock,
    log,
    holder: (options.newId ?? newId)(),
    random: options.random ?? Math.random,
    firstPauseMs: options.firstPauseMs ?? 2_000,
  });
  const limitsOf = options.limitsOf ?? (() => defaultMarketLimits);
  const robots = createRobots({ clock, userAgent });
  const policies = new Map<string, OriginPolicy>();
  const policyOf = (market: string): OriginPolicy => {
    const policy = policies.get(market) ?? originPolicy(options.policyOf(market), origins.get(market));
    policies.set(market, policy);
    return policy;
  };

  const mannersOf = (market: string, region: string, request: PageRequest): Manners => {
    const origin = fetcher.originOf(market, region, request);
    const place = region === '' ? market : `${market}/${region}`;
    return everywhere.at(origin, request.origin === undefined ? place : origin, policyOf(market));
  };

  /** Visits without a look at robots.txt. */
  const bareVisit = (
    market: string,
    region: string,
    signal?: AbortSignal,
    caller: PermitRequest = {},
    share: PageShare | undefined = options.memory?.share(),
  ): Visit => {
    const fetchOnce = fetcher.for(market, region, signal, share);
    const usage = createUnitUsage(market, limitsOf(market));
    let last: Sent | undefined;
    let answers = 0;
    let underWay = 0;
    /** Waiting for room in memory is not the site's doing. */
    const waitedMs = () => share?.waitedMs ?? 0;

    const judge = async (sent: Sent | undefined, verdict: Verdict) => {
      if (!sent || sent.judged || verdict.sort === 'none') return;
      sent.judged = true;
      if (verdict.sort === 'refused' || verdict.sort === 'failed')
        watch?.classified(sent.place, verdict.sort);
      try {
        await sent.manners.circuit.judge(sent.page, verdict, sent.probe);
      } catch (error) {
        // What was read is not lost because the others cannot be told of it.
        log.warn({ market, region, error: Fault.from(error).message }, 'verdict not shared');
      }
    };

    /** Sends a request once nothing speaks against it, with a permit and in its turn. */
    const send = async (request: PageRequest) => {
      const manners = mannersOf(market, region, request);
      const { circuit, permits, turns } = manners;
      const patience = answers > 0 ? patienceMs.midway : patienceMs.atFirst;
      const page = pageOf(request);
      await circuit.pass(patience, signal);
      const leave = await permits.enter(signal, caller);
      try {
        let probe = await circuit.admit(page, patience, signal);
        while (!probe) {
          await turns.take(signal);
          if (!circuit.paused) break;
          probe = await circuit.admit(page, patience, signal);
        }
        const place = { origin: fetcher.originOf(market, region, request), market, region };
        const sent = { manners, place, page, probe, judged: false };
        last = sent;
        const began = clock.now() - waitedMs();
        const took = () => clock.now() - waitedMs() - began;
        let answer: PageAnswer;
        try {
          answer = await fetchOnce(request);
          answers += 1;
          watch?.ended(place, took());
          await judge(sent, verdictOfStatus(answer, clock.now()) ?? { sort: 'none' });
        } catch (error) {
          if (error instanceof Fault) {
            const verdict = verdictOf(error);
            if (verdict.sort !== 'none') watch?.ended(place, took());
            await judge(sent, verdict);
          }
          throw error;
        }
        usage.add(answer.body.length, took());
        return answer;
      } finally {
        leave();
      }
    };

    return {
      fetch: async (request) => {
        // A reader that asks on has read the page before.
        if (underWay === 0) share?.release();
        // A reader that asks on was content with what it got.
        if (underWay === 0) await judge(last, { sort: 'well' });
        underWay += 1;
        try {
          return await send(request);
        } finally {
          underWay -= 1;
        }
      },
      ended: async (fault) => {
        if (fault?.code === 'page_blocked' || fault?.code === 'page_login') fetcher.forget(market, region);
        share?.release();
        await judge(last, fault ? verdictOf(fault) : { sort: 'well' });
      },
    };
  };

  const readRobots = async (market: string, region: string, { origin }: PageRequest) => {
    const { fetch, ended } = bareVisit(market, region);
    const request: PageRequest = { path: '/robots.txt', headers: { accept: 'text/plain' } };
    const redirects = origin === undefined ? 'same_origin' : 'anywhere';
    const following = followingRedirects(fetch, mostRobotsRedirects);
    try {
      const answer = await following({ ...request, ...(origin === undefined ? {} : { origin }), redirects });
      await ended(null);
      return answer;
    } catch (error) {
      await ended(Fault.from(error));
      throw error;
    }
  };

  return {
    visit: (market, region, signal, caller) => {
      const share = options.memory?.share();
      const { fetch, ended } = bareVisit(market, region, signal, caller, share);
      if (!policyOf(market).robots) return { fetch: followingRedirects(fetch), ended };
      const allowed: FetchPage = async (request) => {
        // Before a robots.txt asks for room of its own: visits that hold pages meanwhile would wait for each other.
        share?.release();
        const origin = fetcher.originOf(market, region, request);
        const read = () => readRobots(market, region, request);
        for (const path of new Set([request.path, request.page?.path ?? request.path])) {
          const delayMs = await robots.check(origin, path, read, signal);
          if (delayMs !== undefined) mannersOf(market, region, request).slowDown(delayMs);
        }
        return fetch({ ...request, permits: (path) => robots.judge(origin, path) });
      };
      return { fetch: followingRedirects(allowed), ended };
    },
    concurrency: (market) => requestsAtOnce(policyOf(market)),
    close: everywhere.close,
  };
}
