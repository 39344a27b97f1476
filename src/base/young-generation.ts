import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * Nearly everything that a process allocates while it loads its modules stays. V8 answers that with a larger young
 * generation, up to 48 MB, and shrinks it only in a full collection, which an idle process does not reach.
 */

/** Keeps the young generation at its first size, about 1 MB, until releaseYoungGeneration(). */
export function holdYoungGeneration(): void {
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}

/** Lets the young generation grow with the work, by V8's default factor. */
export function releaseYoungGeneration(): void {
  v8.setFlagsFromString('--semi-space-growth-factor=2');
}

/** Collects the garbage of the start and gives its memory back to the system, in one pause of 50 to 100 ms. */
export function collectGarbageOfStart(): void {
  v8.setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  v8.setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
