import type { ItemKey, TrackedItem, TrackingRun } from '../store/history.ts';
import { trackedItemId } from '../store/history-ids.ts';
import type { Store } from '../store/store.ts';

/** States of items, with the changes that are not written yet. */
export interface ItemStates {
  /** Returns the state of an item in a series, or with '' for all jobs of the user. */
  get(item: ItemKey, series: string): TrackedItem | undefined;
  /** Replaces the state of an item in its series. */
  set(state: Omit<TrackedItem, 'id' | 'revision'>): void;
  /** Returns the states that were replaced. */
  changed(): TrackedItem[];
}

/**
 * Reads the states of items for all jobs of the user and, unless it is empty, in the series of a
 * run.
 */
export async function readItemStates(
  { trackedItems }: Pick<Store, 'trackedItems'>,
  { series }: Pick<TrackingRun, 'series'>,
  items: readonly ItemKey[],
): Promise<ItemStates> {
  const names = series === '' ? [''] : ['', series];
  const ids = new Set(items.flatMap((item) => names.map((name) => trackedItemId(item, name))));
  const found = await trackedItems.find({ id: { in: [...ids] } }, { order: [] });
  const stored = new Map(found.map((state) => [state.id, state]));
  const changed = new Map<string, TrackedItem>();
  return {
    get: (item, name) => {
      const id = trackedItemId(item, name);
      return changed.get(id) ?? stored.get(id);
    },
    set: (state) => {
      const id = trackedItemId(state, state.series);
      changed.set(id, { ...state, id, revision: (stored.get(id)?.revision ?? 0) + 1 });
    },
    changed: () => [...changed.values()],
  };
}
