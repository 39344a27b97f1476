import type { PermitLease, PermitRequest } from './origin-state.ts';

/** Permits of an origin held by one process. */
export interface Holding {
  holder: string;
  held: number;
  requested: number;
  until: number;
}

/** Result of a request for permits, and the new holdings. */
export interface PermitGrant extends Omit<PermitLease, 'pause'> {
  holdings: Holding[];
}

/** Time by which a lease may end later than one that begins now, in milliseconds. */
const maxLeadMs = 60_000;

/**
 * Interval at which permits that cannot be divided evenly move to another process, in milliseconds.
 */
const rotationMs = 5_000;

/**
 * Computes fair shares of `limit`: no process gets more than requested, or more than another
 * process that requests more. The remainder rotates.
 */
function shares(
  requests: readonly { holder: string; requested: number }[],
  limit: number,
  now: number,
) {
  const shared = new Map<string, number>();
  let left = limit;
  let short = [...requests];
  for (;;) {
    const even = Math.floor(left / Math.max(1, short.length));
    const content = short.filter(({ requested }) => requested <= even);
    if (content.length === 0) {
      for (const { holder } of short) shared.set(holder, even);
      left -= even * short.length;
      break;
    }
    for (const { holder, requested } of content) shared.set(holder, requested);
    left -= content.reduce((sum, { requested }) => sum + requested, 0);
    short = short.filter(({ requested }) => requested > even);
  }
  const names = short.map(({ holder }) => holder).sort();
  const first = Math.floor(now / rotationMs);
  for (let turn = 0; turn < left && turn < names.length; turn += 1) {
    const holder = names[(first + turn) % names.length]!;
    shared.set(holder, shared.get(holder)! + 1);
  }
  return shared;
}

/**
 * Computes the permits of a process: its fair share, but no more than the others leave. A process
 * with more requests in progress keeps their permits until they end and starts no new ones. If
 * there are fewer permits than processes, they rotate so that no process starves.
 */
export function grant(holdings: readonly Holding[], request: PermitRequest): PermitGrant {
  const { holder, busy, requested, limit, now, until } = request;
  // A lease that ends later than one of this moment was written by a wrong clock.
  const latest = until + maxLeadMs;
  const otherHoldings = holdings.filter(
    (other) => other.holder !== holder && other.until > now && other.until <= latest,
  );
  const free = Math.max(0, limit - otherHoldings.reduce((sum, { held }) => sum + held, 0));
  const share = shares([...otherHoldings, { holder, requested }], limit, now).get(holder)!;
  const held = Math.min(free, Math.max(share, busy));
  const mine = { holder, held, requested, until };
  return {
    permits: Math.min(free, share),
    isAlone: otherHoldings.length === 0,
    holdings: held > 0 || requested > 0 ? [...otherHoldings, mine] : otherHoldings,
  };
}
