import type { PermitRequest } from './origin-state.ts';

/** Permits of an origin in the hands of one process. */
export interface Holding {
  holder: string;
  held: number;
  wanted: number;
  until: number;
}

/** What a request came to: how many requests its process may have under way from now on, and who holds what. */
export interface Granted {
  permits: number;
  holdings: Holding[];
}

/** How long what cannot be shared evenly stays with the same process, in milliseconds. */
const turnMs = 5_000;

/**
 * Who would get how much if nobody held anything: no one more than wanted, no one more than another
 * unless that one wants less. What cannot be split goes to some of them, by turns.
 */
function shares(wants: readonly { holder: string; wanted: number }[], limit: number, now: number) {
  const shared = new Map<string, number>();
  let left = limit;
  let short = [...wants];
  for (;;) {
    const even = Math.floor(left / Math.max(1, short.length));
    const content = short.filter(({ wanted }) => wanted <= even);
    if (content.length === 0) {
      for (const { holder } of short) shared.set(holder, even);
      left -= even * short.length;
      break;
    }
    for (const { holder, wanted } of content) shared.set(holder, wanted);
    left -= content.reduce((sum, { wanted }) => sum + wanted, 0);
    short = short.filter(({ wanted }) => wanted > even);
  }
  const names = short.map(({ holder }) => holder).sort();
  const first = Math.floor(now / turnMs);
  for (let turn = 0; turn < left && turn < names.length; turn += 1) {
    const holder = names[(first + turn) % names.length]!;
    shared.set(holder, shared.get(holder)! + 1);
  }
  return shared;
}

/**
 * Works out what a process gets of an origin's permits: its fair share, never more than the others
 * leave. One that has more under way holds those until they end, and begins nothing meanwhile; so
 * the others come to theirs. What is left when permits are fewer than processes goes around, so that
 * no process waits for ever.
 */
export function grant(holdings: readonly Holding[], request: PermitRequest): Granted {
  const { holder, busy, wanted, limit, now, until } = request;
  const others = holdings.filter((other) => other.holder !== holder && other.until > now);
  const free = Math.max(0, limit - others.reduce((sum, { held }) => sum + held, 0));
  const share = shares([...others, { holder, wanted }], limit, now).get(holder)!;
  const held = Math.min(free, Math.max(share, busy));
  const mine = { holder, held, wanted, until };
  return {
    permits: Math.min(free, share),
    holdings: held > 0 || wanted > 0 ? [...others, mine] : others,
  };
}
