import type { Random } from '../../sandbox/random.ts';

/** Probabilities, per call or per message, of what goes wrong. */
export interface FaultRates {
  /** A call fails as `unavailable` without taking effect, or after taking effect. */
  refused: number;
  answerLost: number;
  /** A process dies before or after a call, or stands still there. */
  killed: number;
  frozen: number;
  /** A process cannot reach the store or the queue for a while. */
  cutOff: number;
  /** A process is told to stop and gives its work back. */
  stopped: number;
  messageDropped: number;
  messageDoubled: number;
  messageDelayed: number;
  ackLost: number;
  /** The queue loses all that it holds. */
  queueLost: number;
  /** A page fails, or takes longer than a claim lasts. */
  pageFailed: number;
  pageSlow: number;
  /** A webhook receiver fails, or its response is lost. */
  receiverFailed: number;
}

/** Highest rates that a seed draws. */
const highest: FaultRates = {
  refused: 0.03,
  answerLost: 0.03,
  killed: 0.008,
  frozen: 0.008,
  cutOff: 0.003,
  stopped: 0.002,
  messageDropped: 0.2,
  messageDoubled: 0.2,
  messageDelayed: 0.3,
  ackLost: 0.2,
  queueLost: 0.02,
  pageFailed: 0.2,
  pageSlow: 0.08,
  receiverFailed: 0.3,
};

/** How much higher the rates of one run in `stormOf` may be. */
const storm = 3;
const stormOf = 4;

/** Draws the rates of one run. About a third of them are 0, so that each fault is also met without the others. */
export function drawRates(random: Random): FaultRates {
  const factor = random.once(stormOf) ? storm : 1;
  const rates = Object.entries(highest).map(([name, rate]) => [
    name,
    random.once(3) ? 0 : factor * rate * random.next(),
  ]);
  return Object.fromEntries(rates) as FaultRates;
}

/** Rates without faults. */
export const noFaults = Object.fromEntries(Object.keys(highest).map((name) => [name, 0])) as Record<
  keyof FaultRates,
  number
>;
