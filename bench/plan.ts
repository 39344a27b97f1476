/**
 * Prints the plan of docs/scaling.md for a number of items a day, from factors that were measured:
 * `node bench/plan.ts [items per day]`.
 */

/** Measured per item of a variant-sold job: docs/scaling.md, "Cost per million items". */
const item = {
  processorUs: 343,
  pageBytes: 8_200,
  resultBytes: 2_000,
  writtenBytes: 4_000,
  storedBytes: 410,
  commands: 0.317,
  writes: 0.143,
  messages: 0.143,
  storedMessages: 0.02,
};
/**
 * Commands of MongoDB per request for the state of a busy origin: test/politeness/owners.test.ts.
 */
const originCommands = 0.056;
/**
 * Default policy of an origin, and requests per second for each of its owners: src/stack/places.ts.
 */
const origin = { requestsPerSecond: 20, concurrency: 8, requestsPerOwner: 100, maxOwners: 64 };
/** A process that reads pages: memory at rest, and the interval of its reports to the others. */
const process = { bytes: 115e6, presenceSeconds: 1.5 };
/** Items per second that one process compares with earlier ones; four users at a time. */
const compared = { itemsPerSecond: 1_600, users: 4 };
/** Records of a kind that the process which expires them deletes a minute: src/store/expiry.ts. */
const expiredPerMinute = 100_000;
/** Items of a job. It keeps one object, its merged file, which replaces those of its batches. */
const jobItems = 50_000;
/** Maximum of the stream of JetStream, and units of a batch. */
const stream = { messages: 500_000, batchUnits: 50 };
/** Assumptions: nothing of these was measured. */
const assumed = {
  peak: 2,
  /** Processor time of a real page of 200 KB, against one of 8 KB. */
  pageFactor: 5,
  machineCores: 16,
  shardCommands: 2_000,
  keptDays: 7,
};

const daySeconds = 86_400;
const round = (value: number, digits = 2): string =>
  Number(value.toPrecision(digits)).toLocaleString('en-US', { maximumFractionDigits: 2 });
const bytes = (value: number): string => {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.max(0, Math.min(units.length - 1, Math.floor(Math.log10(value) / 3)));
  return `${round(value / 1_000 ** power, 3)} ${units[power]}`;
};

/** Needs of a number of items a day. */
export interface LoadPlan {
  peakItems: number;
  origins: number;
  cores: number;
  machines: number;
  processes: number;
  commands: number;
  shards: number;
}

/** Computes the needs of `itemsPerDay`. */
export function computePlan(itemsPerDay: number): LoadPlan {
  const peakItems = (itemsPerDay / daySeconds) * assumed.peak;
  const cores = (peakItems * item.processorUs * assumed.pageFactor) / 1e6;
  // One core of a machine is left to the system, one to the API or the store, and one machine may
  // fail.
  const perMachine = assumed.machineCores - 2;
  const machines = Math.ceil(cores / perMachine) + 1;
  const commands = peakItems * (item.commands + originCommands);
  return {
    peakItems,
    origins: Math.ceil(peakItems / origin.requestsPerSecond),
    cores,
    machines,
    processes: machines * perMachine,
    commands,
    shards: Math.max(1, Math.ceil(commands / assumed.shardCommands)),
  };
}

/** Formats the plan as Markdown. */
export function formatPlan(itemsPerDay: number): string {
  const plan = computePlan(itemsPerDay);
  const average = itemsPerDay / daySeconds;
  const stored = itemsPerDay * item.storedBytes * assumed.keptDays;
  const rows: [string, string, string][] = [
    [
      'items',
      `${round(average, 3)}/s, ${round(plan.peakItems, 3)}/s at the peak`,
      `twice the average`,
    ],
    [
      'origins',
      round(plan.origins, 3),
      `${origin.requestsPerSecond} requests/s each; the sites decide on more`,
    ],
    [
      'processor time of workers',
      `${round(plan.cores)} cores`,
      `${item.processorUs} µs per item, ${assumed.pageFactor} times as much for real pages of 200 KB`,
    ],
    [
      'machines',
      `${plan.machines} with ${assumed.machineCores} cores, ${plan.processes} page processes`,
      'one machine can fail',
    ],
    [
      'memory of page processes',
      `${bytes((plan.processes / plan.machines) * process.bytes)} per machine at rest`,
      `${bytes(process.bytes)} each`,
    ],
    ['pages received', `${bytes(average * item.pageBytes)}/s`, `${bytes(item.pageBytes)} per item`],
    [
      'result storage',
      `${bytes(itemsPerDay * item.resultBytes)} a day, ${round(itemsPerDay / jobItems)} objects`,
      `${bytes(item.resultBytes)} per item, one object per job of ${round(jobItems)} items`,
    ],
    [
      'writes to the result storage',
      `${bytes(average * item.writtenBytes)}/s, ${round(average / stream.batchUnits)} objects/s`,
      `${bytes(item.writtenBytes)} per item; one object per ${stream.batchUnits} items, until its job ends`,
    ],
    [
      'MongoDB',
      `${round(plan.commands)} commands/s at the peak, ${plan.shards} shards`,
      `${item.commands} per item and ${originCommands} for the state of its origin, whatever the number of processes; ${round(assumed.shardCommands)}/s per shard`,
    ],
    [
      'data in MongoDB',
      `${bytes(stored)} on each set of replicas`,
      `${bytes(item.storedBytes)} per item for ${assumed.keptDays} days`,
    ],
    [
      'NATS',
      `${round(plan.peakItems * item.messages)} messages/s, ${round(plan.peakItems * item.storedMessages)} of them stored`,
      `${item.messages} and ${item.storedMessages} per item`,
    ],
    [
      'reports of page processes',
      `${round(plan.processes ** 2 / process.presenceSeconds)} messages/s`,
      `each to all others, every ${process.presenceSeconds} s`,
    ],
  ];
  const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
  return `| part | need | from |\n| --- | --- | --- |\n${table}\n\n${formatBreakpoints(plan)}`;
}

/** Formats what breaks first when the load grows. */
function formatBreakpoints(plan: LoadPlan): string {
  const hotOrigin = (1e6 / (item.processorUs * assumed.pageFactor)) * origin.maxOwners;
  const rows: [string, string][] = [
    [
      'one origin',
      `${round(hotOrigin)} real pages/s: it has at most ${origin.maxOwners} owners, one for each ${origin.requestsPerOwner} requests/s that it allows`,
    ],
    [
      'tracked jobs of one user',
      `${round(compared.itemsPerSecond)} items/s, ${round(compared.itemsPerSecond * daySeconds)} a day: they are compared one after the other`,
    ],
    [
      'tracked jobs of all users',
      `${round(compared.itemsPerSecond * compared.users)} items/s per process, if it has the cores`,
    ],
    [
      'one shard',
      `${round((assumed.shardCommands / plan.commands) * plan.peakItems)} items/s, an assumption`,
    ],
    [
      'the stream',
      `${round(stream.messages)} batches in flight; further ones wait in the store, in windows of their jobs`,
    ],
    [
      'reports of page processes',
      `1,000 processes send ${round(1_000 ** 2 / process.presenceSeconds)} messages/s`,
    ],
    [
      'objects',
      `${round((plan.peakItems / jobItems) * assumed.keptDays * daySeconds)} in ${assumed.keptDays} days at the peak rate, and one for each finished batch of running jobs; 100 times as many with jobs of ${round(jobItems / 100)} items`,
    ],
    [
      'records that expire',
      `${round(expiredPerMinute * 1_440)} of a kind a day: one process deletes them; jobs and files are divided between all`,
    ],
  ];
  const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
  return `| what breaks | at |\n| --- | --- |\n${table}`;
}

if (import.meta.main) console.log(formatPlan(Number(globalThis.process.argv[2] ?? 1_000_000_000)));
