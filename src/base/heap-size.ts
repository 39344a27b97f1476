import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * By default V8 trades memory for speed: the young generation grows to 128 MB with the surviving
 * objects, and the old generation is collected only when it reaches a multiple of the live objects.
 * In a service process most survivors come from loading modules, whose garbage collectGarbage()
 * returns after the start, and from reading a large submit, which would enlarge the heap for hours.
 */

/** Lets the young generation grow on demand by V8's default factor. */
export function releaseYoungGeneration(): void {
  v8.setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Maximum size of a semi-space in bytes, half of the size in worker processes. The young generation
 * has two semi-spaces.
 */
const maxSemiSpaceBytes = 4 * 1024 ** 2;

/**
 * Garbage in the old generation that triggers a full collection, in percent of the live objects.
 */
const maxGarbagePercent = 50;

/**
 * Lets the young generation grow to two semi-spaces of 4 MB, and has the old generation collected
 * once it has grown by half. The size is checked after collections, so a burst within one turn of
 * the event loop can exceed it.
 */
export function limitHeapGrowth(): void {
  v8.setFlagsFromString(`--heap-growing-percent=${maxGarbagePercent}`);
  const limit = () => {
    const { space_size } = v8
      .getHeapSpaceStatistics()
      .find(({ space_name }) => space_name === 'new_space')!;
    if (space_size <= maxSemiSpaceBytes) releaseYoungGeneration();
    else v8.setFlagsFromString('--semi-space-growth-factor=1');
  };
  limit();
  new PerformanceObserver(limit).observe({ entryTypes: ['gc'] });
}

/** Collects all garbage and returns its memory to the system, in one pause of 50 to 100 ms. */
export function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  v8.setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * Returns the resident memory of this process without the pages of files, in bytes. A service and
 * its worker processes run the same program, whose pages are in memory once: about 60 MB that each
 * process counts as resident. All resident memory where the system does not tell them apart.
 */
export function anonymousMemoryBytes(): number {
  try {
    const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))!;
    return Number(kilobytes) * 1024;
  } catch {
    return process.memoryUsage.rss();
  }
}
