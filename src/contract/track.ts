/**
 * Returns the series of a job by its option `track`: '' for a job that compares each item with its
 * last reading, null for a job that is not tracked.
 */
export function seriesOf(track: string | undefined): string | null {
  if (track === undefined || track === '' || track === 'false') return null;
  return track === 'true' ? '' : track;
}

/** Segment of a path that stands for the empty region of a market without regions. */
export const noRegion = '-';
