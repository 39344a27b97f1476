import type { LongRequestKind } from '../contract/caller.ts';
import { Fault } from '../contract/fault.ts';

/** A request that may last long. */
export interface LongRequest {
  /** Aborts when the request should end early, because the port fills. Only waits do. */
  early: AbortSignal;
  end(): void;
}

/** Shares of accounts in the requests of one port. */
export interface PortShares {
  /** Counts an accepted request of any kind. Returns the function that ends it. */
  accept(): () => void;
  /**
   * Counts an accepted request that may last long. Throws `rate_limited` if the account has its
   * share of the kind, or if only the reserve is left.
   */
  begin(account: string, kind: LongRequestKind): LongRequest;
  /**
   * Returns the delay of the response to a refused request, in milliseconds: 0 unless many were
   * refused. `now`: milliseconds of a clock that never decreases.
   */
  delayRefusal(now: number): number;
  /** True while waits are ended early. */
  readonly isFilling: boolean;
}

/** Part of a port that the requests of one kind of an account may take. */
const accountPart = 1 / 10;
/** Part of a port above which waits are ended early. */
const fullPart = 3 / 4;
/** Part of a port that is left to callers that are not admitted yet, and to short requests. */
const reservedPart = 1 / 40;
/** `Retry-After` of a request beyond a share, in milliseconds. */
const retryAfterMs = 1_000;
/**
 * Responses per second to refused requests. Clients that repeat their requests at the same time
 * would otherwise do so forever, and delay others each time.
 */
const refusalsPerSecond = 400;

const nouns: Readonly<Record<LongRequestKind, string>> = {
  wait: 'waiting requests',
  watch: 'watches',
  stream: 'streams',
  download: 'downloads',
  agent: 'requests of agents',
};

const portFills = new Error('the port fills');
const never = new AbortController().signal;

/** Creates the shares of a port that serves up to `capacity` requests at a time. */
export function createPortShares(capacity: number): PortShares {
  const maxPerAccount = Math.max(1, Math.floor(capacity * accountPart));
  const maxLong = Math.max(1, capacity - Math.ceil(capacity * reservedPart));
  const fullAt = capacity * fullPart;
  /** Requests in progress by account and kind. */
  const counts = new Map<string, number>();
  /** In the order in which they began. */
  const waits = new Set<AbortController>();
  let accepted = 0;
  let long = 0;
  /** Waits that were ended early and whose responses are not sent yet. */
  let ending = 0;
  /** Time from which the next refused request gets its response. */
  let refusesAt = 0;

  const isFilling = () => accepted - ending > fullAt;
  const endOldestWaits = () => {
    for (const wait of waits) {
      if (!isFilling()) return;
      waits.delete(wait);
      ending += 1;
      wait.abort(portFills);
    }
  };
  const refuse = (message: string) => new Fault('rate_limited', message, { retryAfterMs });

  return {
    get isFilling() {
      return isFilling();
    },
    delayRefusal(now) {
      const at = Math.max(now, refusesAt);
      refusesAt = at + 1_000 / refusalsPerSecond;
      return at - now;
    },
    accept() {
      accepted += 1;
      endOldestWaits();
      return () => {
        accepted -= 1;
      };
    },
    begin(account, kind) {
      const key = `${kind} ${account}`;
      const count = counts.get(key) ?? 0;
      if (count >= maxPerAccount)
        throw refuse(`More than ${maxPerAccount} ${nouns[kind]} of the account are in progress`);
      if (long >= maxLong) throw refuse('The service has too many requests in progress');
      const wait = kind === 'wait' ? new AbortController() : null;
      counts.set(key, count + 1);
      long += 1;
      if (wait !== null) waits.add(wait);
      endOldestWaits();
      return {
        early: wait?.signal ?? never,
        end() {
          const left = counts.get(key)! - 1;
          if (left > 0) counts.set(key, left);
          else counts.delete(key);
          long -= 1;
          if (wait !== null && !waits.delete(wait)) ending -= 1;
        },
      };
    },
  };
}
