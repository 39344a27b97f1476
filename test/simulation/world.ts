import { createHash } from 'node:crypto';
import { type Random, random } from '../../sandbox/random.ts';
import type { ClockRecord } from '../../src/base/clock.ts';
import { createMemoryClockRecord } from '../support/time/clock.ts';
import { drawRates, type FaultRates, noFaults } from './faults.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';

/** Code paths taken only after faults. The seeds of the suite together must take each of them. */
export const rarePaths = [
  'redelivery',
  'late ack',
  'resumed submit',
  'repaired posting',
  'lost claim',
  'republished batch',
  'frozen writer rejected',
] as const;

/** A path that only faults cause. */
export type RarePath = (typeof rarePaths)[number];

/** State shared by all parts of a simulated run. */
export interface World {
  scheduler: Scheduler;
  /** Source of all random choices of the run. */
  random: Random;
  /** Returns true with this probability. */
  happens(probability: number): boolean;
  /** Current fault rates; all 0 after `calm()`. */
  readonly rates: FaultRates;
  /** Ends all faults. */
  calm(): void;
  newId(): string;
  /** What the processes agree on about the time. */
  clockRecord: ClockRecord;
  /** Adds a line to the trace. */
  trace(line: string): void;
  /** Returns the SHA-256 of the trace so far. */
  traceHash(): string;
  seen: Set<RarePath>;
  /** Broken invariants, one sentence each. */
  problems: string[];
}

/** Noon of a Monday in GMT+8. */
const start = Date.UTC(2030, 0, 7, 4);

/** Creates the world of a seed. `print` is called with every line of the trace. */
export function createWorld(seed: number, print: (line: string) => void = () => {}): World {
  const draws = random(`simulation ${seed}`);
  const scheduler = createScheduler(start);
  const hash = createHash('sha256');
  let rates = drawRates(draws);
  const hex = (length: number) =>
    Array.from({ length }, () => Math.floor(draws.next() * 16).toString(16)).join('');
  return {
    scheduler,
    random: draws,
    // Draws nothing for probability 0, which keeps runs without faults fast.
    happens: (probability) => probability > 0 && draws.next() < probability,
    get rates() {
      return rates;
    },
    calm: () => {
      rates = noFaults;
    },
    newId: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
    clockRecord: createMemoryClockRecord(),
    trace: (text) => {
      const line = `${((scheduler.now() - start) / 1000).toFixed(3)} ${text}`;
      hash.update(`${line}\n`);
      print(line);
    },
    traceHash: () => hash.copy().digest('hex'),
    seen: new Set(),
    problems: [],
  };
}
