import { createBoundedMap } from '../base/bounded-map.ts';
import { sha256 } from '../base/id.ts';
import type { BatchReference } from '../store/batches.ts';

/**
 * Place whose messages a few consumers handle, so that they keep the state of its origin in memory.
 */
export interface WorkPlace {
  /** Name of the place, such as "mkta/id". */
  name: string;
  /** Number of its owners, at least 1. */
  owners: number;
}

/** Returns the place of a message. Null if any consumer may handle it. */
export type PlaceOf = (message: BatchReference) => WorkPlace | null;

/** Consumers by id, and the places that each of them owns. */
export interface Owners {
  /** Replaces the ids of the consumers. */
  use(members: readonly string[]): void;
  /**
   * Returns the owners of a place in the order of their rank. Consumers that come and go change
   * only the places that they own.
   */
  of(workPlace: WorkPlace): readonly string[];
}

/** Ranks a consumer for a place (rendezvous hashing). */
const weightOf = (workPlace: string, member: string): string => sha256(`${workPlace} ${member}`);

/** Creates an empty set of consumers. */
export function createOwners(): Owners {
  let ids: readonly string[] = [];
  const rankings = createBoundedMap<readonly string[]>({
    maxBytes: 4 * 1024 ** 2,
    sizeOf: (ranking) => 16 * ranking.length,
  });
  const rank = (workPlace: string): readonly string[] => {
    const weights = new Map(ids.map((id) => [id, weightOf(workPlace, id)]));
    return ids.toSorted((one, other) => (weights.get(one)! < weights.get(other)! ? -1 : 1));
  };
  return {
    use(members) {
      ids = [...members];
      rankings.clear();
    },
    of({ name, owners }) {
      const ranking = rankings.get(name) ?? rank(name);
      rankings.set(name, ranking);
      return ranking.slice(0, owners);
    },
  };
}
