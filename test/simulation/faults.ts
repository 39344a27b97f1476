import type { Random } from '../../sandbox/random.ts';

/** Fault probabilities per call or message. */
export interface FaultRates {
  /** A call fails as `unavailable` before or after it takes effect. */
  refused: number;
  responseLost: number;
  /** A process dies or freezes before or after a call. */
  killed: number;
  frozen: number;
  /** A process cannot reach one of the engines for a while. */
  cutOff: number;
  /** A worker stops gracefully and returns its work. */
  stopped: number;
  messageDropped: number;
  messageDuplicated: number;
  messageDelayed: number;
  ackLost: number;
  /** The queue loses all messages. */
  queueLost: number;
  /** A page fails, or takes longer than the lease of a claim. */
  pageFailed: number;
  pageSlow: number;
  /** A webhook receiver fails, or its response is lost. */
  receiverFailed: number;
}

/** Maximum rates drawn by a seed. */
const maxRates: FaultRates = {
  refused: 0.03,
  responseLost: 0.03,
  killed: 0.008,
  frozen: 0.008,
  cutOff: 0.003,
  stopped: 0.002,
  messageDropped: 0.2,
  messageDuplicated: 0.2,
  messageDelayed: 0.3,
  ackLost: 0.2,
  queueLost: 0.02,
  pageFailed: 0.2,
  pageSlow: 0.08,
  receiverFailed: 0.3,
};

/** Factor for the rates of faults in one of `stormOf` runs. */
const storm = 3;
const stormOf = 4;

/**
 * Draws the rates of a run. About a third of them are 0, so that each fault also occurs without the
 * others.
 */
export function drawRates(random: Random): FaultRates {
  const factor = random.once(stormOf) ? storm : 1;
  const rates = Object.entries(maxRates).map(([name, rate]) => [
    name,
    random.once(3) ? 0 : factor * rate * random.next(),
  ]);
  return Object.fromEntries(rates) as FaultRates;
}

/** Rates without faults. */
export const noFaults = Object.fromEntries(
  Object.keys(maxRates).map((name) => [name, 0]),
) as Record<keyof FaultRates, number>;
