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
  /** Default: one for every four kills. */
  freezes?: number;
  /**
   * Length of a freeze. In a run with short freezes, partitions and the pauses between faults are
   * short, too.
   */
  freezeMs: number;
  /** Processes that can be killed and frozen: one on the embedded stack. */
  processes: number;
  /** True if each process has its own link to each engine, and the engines can be restarted. */
  links: boolean;
}

/**
 * Draws the faults of a run in order: the requested number of kills, freezes, and with links
 * restarts of both engines, partitions, and delays. Kills affect every process once before they
 * affect one twice; so do freezes.
 */
export function planFaults(draw: Random, options: PlanOptions): InjectedFault[] {
  const { kills, freezeMs, processes, links } = options;
  const share = Math.ceil(kills / 4);
  // Both engines are restarted, and links fail in both ways, also in a short run.
  const pairs = Math.max(2, share);
  const maxCutMs = Math.min(8_000, freezeMs);
  const [killed, frozen] = [dealer(draw, processes), dealer(draw, processes)];
  const target = () => draw.integer(0, processes - 1);
  const engine = (): EngineName => (draw.once(2) ? 'mongo' : 'nats');
  const pauseMs = () => draw.integer(300, Math.min(2_500, Math.max(300, freezeMs / 2)));
  const repeat = (count: number, create: (index: number) => InjectedFault) =>
    Array.from({ length: count }, (_, index) => create(index));
  const faults = [
    ...repeat(kills, () => ({
      kind: 'kill',
      target: killed(),
      lengthMs: draw.integer(0, 500),
      pauseMs: pauseMs(),
    })),
    ...repeat(options.freezes ?? share, () => ({
      kind: 'freeze',
      target: frozen(),
      lengthMs: freezeMs,
      pauseMs: pauseMs(),
    })),
  ];
  if (!links) return shuffle(draw, faults);
  const link = () => ({ target: target(), engine: engine(), pauseMs: pauseMs() });
  return shuffle(draw, [
    ...faults,
    ...repeat(pairs, (index) => ({
      kind: 'restart',
      engine: index % 2 === 0 ? 'nats' : 'mongo',
      lengthMs: draw.integer(100, 2_000),
      pauseMs: pauseMs(),
    })),
    ...repeat(pairs, (index) => ({
      kind: index % 2 === 0 ? 'silence' : 'cut',
      ...link(),
      lengthMs: draw.integer(500, maxCutMs),
    })),
    ...repeat(share, () => ({
      kind: 'delay',
      ...link(),
      delayMs: draw.integer(20, 400),
      lengthMs: draw.integer(1_000, 4_000),
    })),
  ]);
}

/** Returns a function that draws each of `count` numbers once before it draws one again. */
function dealer(draw: Random, count: number): () => number {
  let left: number[] = [];
  return () => {
    if (left.length === 0) left = shuffle(draw, [...Array(count).keys()]);
    return left.pop()!;
  };
}

function shuffle<T>(draw: Random, values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, order: draw.next() }))
    .sort((one, other) => one.order - other.order)
    .map(({ value }) => value);
}
