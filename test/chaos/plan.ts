import type { Random } from '../../sandbox/random.ts';

/** Engines whose network link to a process can fail. */
export type EngineName = 'mongo' | 'nats';

/** A fault and the pause before it, both in milliseconds. `target` is the index of a process. */
export type InjectedFault = { pauseMs: number; lengthMs: number } & (
  | { kind: 'kill'; target: number }
  | { kind: 'freeze'; target: number }
  | { kind: 'restart'; engine: EngineName }
  | { kind: 'silence' | 'cut'; target: number; engine: EngineName }
  | { kind: 'delay'; target: number; engine: EngineName; delayMs: number }
);

export type FaultKind = InjectedFault['kind'];

/** Options for planFaults(). */
export interface PlanOptions {
  kills: number;
  freezeMs: number;
  /** Processes of the service: one on the embedded stack. */
  processes: number;
  distributed: boolean;
}

/**
 * Draws the faults of a run in order: the requested number of kills, a freeze for every four kills, and on the
 * distributed stack restarts of both engines, partitions, and delays.
 */
export function planFaults(draw: Random, options: PlanOptions): InjectedFault[] {
  const { kills, freezeMs, processes, distributed } = options;
  const share = Math.ceil(kills / 4);
  const target = () => draw.integer(0, processes - 1);
  const engine = (): EngineName => (draw.once(2) ? 'mongo' : 'nats');
  const pauseMs = () => draw.integer(300, 2_500);
  const repeat = (count: number, create: (index: number) => InjectedFault) =>
    Array.from({ length: count }, (_, index) => create(index));
  const faults = [
    ...repeat(kills, () => ({
      kind: 'kill',
      target: target(),
      lengthMs: draw.integer(0, 500),
      pauseMs: pauseMs(),
    })),
    ...repeat(share, () => ({ kind: 'freeze', target: target(), lengthMs: freezeMs, pauseMs: pauseMs() })),
  ];
  if (!distributed) return shuffle(draw, faults);
  const link = () => ({ target: target(), engine: engine(), pauseMs: pauseMs() });
  return shuffle(draw, [
    ...faults,
    ...repeat(share, (index) => ({
      kind: 'restart',
      engine: index % 2 === 0 ? 'nats' : 'mongo',
      lengthMs: draw.integer(100, 2_000),
      pauseMs: pauseMs(),
    })),
    ...repeat(share, () => ({
      kind: draw.once(2) ? 'silence' : 'cut',
      ...link(),
      lengthMs: draw.integer(500, 8_000),
    })),
    ...repeat(share, () => ({
      kind: 'delay',
      ...link(),
      delayMs: draw.integer(20, 400),
      lengthMs: draw.integer(1_000, 4_000),
    })),
  ]);
}

function shuffle<T>(draw: Random, values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, order: draw.next() }))
    .sort((one, other) => one.order - other.order)
    .map(({ value }) => value);
}
