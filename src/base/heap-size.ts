import { PerformanceObserver } from 'node:perf_hooks';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * By default V8 trades memory for speed: the young generation grows to 128 MB with the objects that survive, and the old
 * generation is collected once it is a multiple of the live objects. In a service process most survivors come from
 * loading modules and from reading a large submit, and both would enlarge its heap for hours.
 */

/** Keeps the young generation at its initial size, about 1 MB, until releaseYoungGeneration() or limitHeapGrowth(). */
export function holdYoungGeneration(): void {
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}

/** Lets the young generation grow with the work, by V8's default factor. */
export function releaseYoungGeneration(): void {
  v8.setFlagsFromString('--semi-space-growth-factor=2');
}

/** Maximum size of a semi-space in bytes, of which the young generation has two; that of a worker process, too. */
const maxSemiSpaceBytes = 8 * 1024 ** 2;

/** Garbage in the old generation, in percent of the live objects, that starts a full collection. */
const maxGarbagePercent = 50;

/**
 * Releases the young generation up to twice 8 MB, and has the old generation collected once it has grown by half. The
 * size is checked after collections, so that a burst without a turn of the event loop can exceed it.
 */
export function limitHeapGrowth(): void {
  v8.setFlagsFromString(`--heap-growing-percent=${maxGarbagePercent}`);
  const limit = () => {
    const { space_size } = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!;
    if (space_size <= maxSemiSpaceBytes) releaseYoungGeneration();
    else holdYoungGeneration();
  };
  limit();
  new PerformanceObserver(limit).observe({ entryTypes: ['gc'] });
}

/** Collects the garbage of the start and returns its memory to the system, in one pause of 50 to 100 ms. */
export function collectGarbageOfStart(): void {
  v8.setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  v8.setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
