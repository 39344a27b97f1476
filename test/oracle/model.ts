/** A product as a store lists it. */
export interface Product {
  title: string;
  price: number;
}

/** What a job read of one of its units. */
export interface UnitReading {
  unit: string;
  /** Position of the reading in the order of all readings. */
  at: number;
  /** Listed products by id. Null if the unit is gone; undefined if it could not be read. */
  products: ReadonlyMap<string, Product> | null | undefined;
}

/** A job with its units in the order submitted. */
export interface JobReading {
  jobId: string;
  /** Name of the series; '' for a job that compares each item with its own last reading. */
  series: string;
  /** Position of the job's end in the order of all ends. */
  endedAt: number;
  units: readonly UnitReading[];
}

/** Expected result of a comparison. */
export interface ExpectedChanges {
  /** Changes by item: "new 7", "changed 7 price". */
  changes: string[];
  unchanged: number;
  /** Ids of the items whose records `only=changed` returns. */
  changedRecords: string[];
}

interface Item {
  product: Product;
  readAt: number;
}

interface Member extends Item {
  isPresent: boolean;
  /** Readings of the units that listed the item when it was found last. */
  listings: Map<string, number>;
  /** Units that may still list the item, since they could not be read then. */
  unread: Set<string>;
  /** Readings of units that lacked the item, while it is absent. */
  absences: Map<string, number>;
}

const fields = ['title', 'price'] as const;
const differing = (before: Product, after: Product) =>
  fields.filter((name) => before[name] !== after[name]);

/** Histories and series of one user, as docs/history.md describes them, from what the jobs read. */
export class HistoryModel {
  /** Values of each item, oldest first. */
  readonly observations = new Map<string, { jobId: string; product: Product }[]>();
  private readonly items = new Map<string, Item>();
  private readonly series = new Map<string, { members: Map<string, Member>; lastEnd: number }>();

  /**
   * Compares a job. Jobs are compared in the order of their ends, except for those that were held.
   */
  compare(job: JobReading): ExpectedChanges {
    const found = this.findItems(job);
    const ownChanges = [...found].map(([id, { reading, product }]) =>
      this.observe(job.jobId, id, { product, readAt: reading.at }),
    );
    if (job.series === '') return summarize(found.size, ownChanges);
    const series = this.series.get(job.series) ?? {
      members: new Map<string, Member>(),
      lastEnd: -1,
    };
    this.series.set(job.series, series);
    // A run that is compared late leaves its series alone.
    if (job.endedAt < series.lastEnd) return summarize(found.size, []);
    series.lastEnd = job.endedAt;
    const changes = [...found].map(([id, finding]) =>
      updateMember(series.members, job, id, finding),
    );
    return summarize(found.size, changes, missingItems(series.members, job, found));
  }

  /** Deletes all observations but the latest of each item. */
  expire(): void {
    for (const [id, observations] of this.observations)
      this.observations.set(id, observations.slice(-1));
  }

  /** Returns which items of a series are present. */
  presence(name: string): Record<string, boolean> {
    const members = this.series.get(name)?.members ?? new Map<string, Member>();
    return Object.fromEntries([...members].map(([id, { isPresent }]) => [id, isPresent]));
  }

  /** Returns the items of a job: each with its first reading, and all readings that list it. */
  private findItems({ units }: JobReading): Map<string, Finding> {
    const found = new Map<string, Finding>();
    for (const reading of units)
      for (const [id, product] of reading.products ?? []) {
        const finding = found.get(id);
        if (finding === undefined) found.set(id, { reading, product, readings: [reading] });
        else finding.readings.push(reading);
      }
    return found;
  }

  private observe(jobId: string, id: string, next: Item): string | null {
    const last = this.items.get(id);
    if (last !== undefined && next.readAt <= last.readAt) return null;
    this.items.set(id, next);
    const changed = last === undefined ? fields : differing(last.product, next.product);
    if (changed.length === 0) return null;
    const observations = this.observations.get(id) ?? [];
    this.observations.set(id, [...observations, { jobId, product: next.product }]);
    return last === undefined ? `new ${id}` : `changed ${id} ${changed.join(' ')}`;
  }
}

interface Finding {
  reading: UnitReading;
  product: Product;
  readings: UnitReading[];
}

function updateMember(
  members: Map<string, Member>,
  { units }: JobReading,
  id: string,
  { reading, product, readings }: Finding,
): string | null {
  const last = members.get(id);
  const isNews = last === undefined || reading.at > last.readAt;
  const value = isNews ? product : last.product;
  const readAt = Math.max(reading.at, last?.readAt ?? reading.at);
  const absentAt = last?.isPresent === false ? last.absences.get(reading.unit) : undefined;
  if (last && absentAt !== undefined && reading.at <= absentAt) {
    members.set(id, { ...last, product: value, readAt });
    return null;
  }
  const failed = units.filter(({ products }) => products === undefined).map(({ unit }) => unit);
  const before = last?.isPresent ? [...last.listings.keys(), ...last.unread] : [];
  members.set(id, {
    product: value,
    readAt,
    isPresent: true,
    listings: new Map(readings.map(({ unit, at }) => [unit, at])),
    unread: new Set(before.filter((unit) => failed.includes(unit))),
    absences: new Map(),
  });
  if (last === undefined) return `new ${id}`;
  const changed = differing(last.product, value);
  if (!last.isPresent) return `back ${id} ${changed.join(' ')}`.trim();
  return changed.length === 0 ? null : `changed ${id} ${changed.join(' ')}`;
}

/** Removes the items that a job proves to be absent from a series, and returns their ids. */
function missingItems(
  members: Map<string, Member>,
  { units }: JobReading,
  found: ReadonlyMap<string, Finding>,
): string[] {
  const readings = new Map(units.map((reading) => [reading.unit, reading]));
  const missing: string[] = [];
  for (const [id, member] of members) {
    if (!member.isPresent || found.has(id)) continue;
    const listing = [...member.listings].filter(([unit]) => readings.has(unit));
    const mayListIt = ([unit, listedAt]: [string, number]) => {
      const { products, at } = readings.get(unit)!;
      return products === undefined || at <= listedAt;
    };
    const isUnread = [...member.unread].some((unit) => {
      const reading = readings.get(unit);
      return reading !== undefined && reading.products === undefined;
    });
    if (listing.length === 0 || isUnread || listing.some(mayListIt)) continue;
    member.isPresent = false;
    member.absences = new Map(listing.map(([unit]) => [unit, readings.get(unit)!.at]));
    missing.push(id);
  }
  return missing;
}

function summarize(
  items: number,
  found: readonly (string | null)[],
  missing: readonly string[] = [],
): ExpectedChanges {
  const changes = found.filter((change) => change !== null);
  return {
    changes: [...changes, ...missing.map((id) => `missing ${id}`)].sort(),
    unchanged: items - changes.length,
    changedRecords: changes.map((change) => change.split(' ')[1]!).sort(),
  };
}
