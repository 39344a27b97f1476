import { availableParallelism } from 'node:os';
import { measureBrowser, type PageCost } from './browser.ts';
import { measureDisk } from './disk.ts';
import { measureExplore } from './explore.ts';
import { measureGrowth } from './growth.ts';
import { measureMongoHistory, measureSqliteHistory } from './history.ts';
import { measureIdle } from './idle.ts';
import { measureManyOrigins } from './many-origins.ts';
import { measureNeighbour } from './neighbour.ts';
import { measureNoisyUser } from './noisy-user.ts';
import { measurePage } from './page.ts';
import { describePeers, measurePeers, writePicture } from './peers.ts';
import { measurePipeline, type PipelineResult } from './pipeline.ts';
import { type CallRate, measureRetrieve } from './retrieve.ts';
import { measureRpc } from './rpc.ts';
import { measureRateLimited, measureSlowOrigin, type WorkerOptions } from './slow-origin.ts';
import { measureOperations, measureSteps } from './steps.ts';
import { measureSubmit } from './submit.ts';
import { startBenchEngines } from './support/engines.ts';
import { buildGleaner } from './support/program.ts';

/**
 * Prints the cost of the service compared with minimal baselines, measured alternately in one run,
 * because ratios depend less on the machine than absolute figures.
 * `node bench/main.ts [rounds] [benchmark…]` runs all benchmarks by default except `origins`,
 * `growth`, `history`, and `peers`, which take minutes. `origins=<origins>` runs it with another
 * number than 1,000, `growth=<jobs>` with another number of jobs than 20, `history=<observations>`
 * with another number than 1,000,000, `peers=<pages>` with another number than 20,000. `history`
 * measures MongoDB at MONGODB_TEST_URI, if it is set, instead of SQLite.
 */
const parameters = process.argv.slice(2);
const rounds = Number(parameters.find((parameter) => /^[0-9]+$/.test(parameter)) ?? 5);
const numberOf = (name: string, usual: number) =>
  Number(
    parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1) ??
      usual,
  );
const manyOrigins = numberOf('origins', 1_000);
const growthJobs = numberOf('growth', 20);
const observations = numberOf('history', 1_000_000);
/** Pages of the comparison in docs/performance.md. */
const documentedPages = 20_000;
const peerPages = numberOf('peers', documentedPages);
const chosen = new Set(
  parameters
    .filter((parameter) => !/^[0-9]+$/.test(parameter))
    .map((parameter) => parameter.replace(/^(origins|growth|history|peers)=[0-9]+$/, '$1')),
);
const names = [
  'pipeline',
  'steps',
  'page',
  'browser',
  'submit',
  'idle',
  'disk',
  'neighbour',
  'slow-origin',
  'workers',
  'origins',
  'noisy-user',
  'retrieve',
  'rpc',
  'explore',
  'growth',
  'history',
  'peers',
];
/** Benchmarks that take minutes. */
const slow = ['origins', 'growth', 'history', 'peers'];
for (const name of chosen) {
  if (!names.includes(name))
    throw new Error(`no benchmark "${name}": choose from ${names.join(', ')}`);
}

/** Runs a benchmark if it was chosen. */
async function run(name: string, measure: () => Promise<void>): Promise<void> {
  if (chosen.size === 0 ? !slow.includes(name) : chosen.has(name)) await measure();
}
const items = 4_000;
/** Items of a job of the pipeline. */
const pipelineItems = 20_000;
/** Items of a batch of a variant-sold job. */
const batchSize = 50;
const calls = 4_000;
const pages = 10_000;
/** Items of each of many origins: some batches. */
const itemsOfOrigin = 100;
/** Pages of a round in a browser. */
const browserPages = 100;
/**
 * Calls of RPC: twice as many as over REST, since Linux counts processor time in hundredths of a
 * second.
 */
const rpcCalls = 8_000;

const fixed = (value: number, digits = 0) => value.toFixed(digits);
const megabytes = (bytes: number) => `${fixed(bytes / 1024 ** 2)} MB`;
const print = (line: string) => console.log(line);

function sayPipeline(
  stack: string,
  { pipeline, bare }: PipelineResult,
  rateAim: string,
  cpuAim: string,
): void {
  print(
    `pipeline, ${stack}: ${fixed(pipeline.itemsPerSecond)} items/s, a bare fetch + parse + write loop ${fixed(bare.itemsPerSecond)}, ratio ${fixed(pipeline.itemsPerSecond / bare.itemsPerSecond, 2)}${rateAim}`,
  );
  print(
    `  processor time per item ${fixed(pipeline.processorUs)} µs over ${fixed(bare.processorUs)} µs, ratio ${fixed(pipeline.processorUs / bare.processorUs, 2)}${cpuAim}`,
  );
}

if (chosen.size === 0 || [...chosen].some((name) => name !== 'history')) buildGleaner();
print(`Node ${process.version}, ${availableParallelism()} processors, ${rounds} rounds, medians`);
await run('pipeline', async () => {
  sayPipeline(
    'embedded',
    await measurePipeline(rounds, pipelineItems, {}),
    ' (aim 0.6)',
    ' (aim 2.0)',
  );
  try {
    const engines = await startBenchEngines();
    try {
      const addresses = { mongo: engines.mongoUri, nats: engines.natsUrl };
      sayPipeline(
        `distributed (${engines.about})`,
        await measurePipeline(rounds, pipelineItems, { engines: addresses }),
        '',
        ' (aim 2.6)',
      );
    } finally {
      await engines.stop();
    }
  } catch (error) {
    print(`pipeline, distributed: not measured: ${(error as Error).message}`);
  }
});

await run('steps', async () => {
  print('processor time per item of the bare loop with parts of the service added one by one:');
  for (const { step, processorUs, ratio } of await measureSteps(rounds, items)) {
    print(`  ${fixed(processorUs)} µs, ratio ${fixed(ratio, 2)}: ${step}`);
  }
  print(`operations of the service per batch of ${batchSize} items, and bytes per item:`);
  const { allocatedBytes, ...operations } = await measureOperations(items);
  for (const [name, count] of Object.entries(operations))
    print(
      `  ${fixed((count / items) * batchSize, 1)} ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`,
    );
  print(
    `  ${fixed(allocatedBytes / items / 1024, 1)} KB allocated per item on the heaps of main threads`,
  );
});

await run('page', async () => {
  for (const { protocol, gleanerUs, bareUs } of await measurePage(rounds, pages)) {
    print(
      `page over ${protocol}: ${fixed(gleanerUs)} µs of processor time, undici alone ${fixed(bareUs)} µs, ratio ${fixed(gleanerUs / bareUs, 2)}`,
    );
  }
});

await run('browser', async () => {
  const costOf = ({ pagesPerSecond, processorMs, peakBytes }: PageCost) =>
    `${fixed(pagesPerSecond, 2)} pages/s, ${fixed(processorMs, 1)} ms per page, the browser's memory at most ${megabytes(peakBytes)}`;
  for (const { concurrency, gleaner, bare } of await measureBrowser(rounds, browserPages)) {
    print(
      `browser, ${concurrency} at once: ${costOf(gleaner)} (aim 384); the driver alone ${costOf(bare)}`,
    );
    print(
      `  ratio of the rates ${fixed(gleaner.pagesPerSecond / bare.pagesPerSecond, 2)}, of the processor time ${fixed(gleaner.processorMs / bare.processorMs, 2)}`,
    );
  }
});

await run('submit', async () => {
  const submit = await measureSubmit(rounds, 50_000);
  print(
    `submit of 50,000 items: ${fixed(submit.ms)} ms (aim 250), the first ${fixed(submit.firstMs)} ms, ${fixed(submit.processorUs, 1)} µs of processor time per item`,
  );
  print(
    `  peak memory of the API process above idle: ${megabytes(submit.firstExtraBytes)} during the first submit (aim 80), ${megabytes(submit.extraBytes)} over ${rounds} submits; of all processes ${megabytes(submit.allExtraBytes)}`,
  );
});

await run('idle', async () => {
  const idle = await measureIdle(rounds);
  print(
    `serve from the package, idle: ${megabytes(idle.ownBytes)} resident (aim 100), ${megabytes(idle.allBytes)} with its worker processes; a bare Node process ${megabytes(idle.bareBytes)}, ratio ${fixed(idle.ownBytes / idle.bareBytes, 2)}`,
  );
  print(
    `  started in ${fixed(idle.startMs)} ms (aim 400), the first time ${fixed(idle.firstStartMs)} ms`,
  );
});

await run('disk', async () => {
  const disk = await measureDisk(50_000);
  const { mergedBytes, resultBytes, databaseBytes, files, maxFiles } = disk;
  print(
    `disk of a 50,000-item job: merged file ${megabytes(mergedBytes)}, result files ${megabytes(resultBytes)}, database ${megabytes(databaseBytes)}`,
  );
  print(
    `  ratio to the merged file ${fixed((resultBytes + databaseBytes) / mergedBytes, 2)} (aim 1.3); ${files} files, at most ${maxFiles} while it ran`,
  );
});

await run('neighbour', async () => {
  const neighbour = await measureNeighbour(50_000);
  const { idle, busy } = neighbour;
  print(
    `get_pc idle: median ${fixed(idle.median, 1)} ms (aim 8), p95 ${fixed(idle.p95, 1)} ms; beside a 50,000-item job (${fixed(neighbour.itemsPerSecond)} items/s): ${fixed(busy.median, 1)} ms, ${fixed(busy.p95, 1)} ms (${busy.tasks} tasks)`,
  );
  print(
    `  ratio of the medians ${fixed(busy.median / idle.median, 1)} (aim 2), of the 95th percentiles ${fixed(busy.p95 / idle.p95, 1)} (aim 3)`,
  );
  print(
    `  memory of all processes: idle ${megabytes(neighbour.idleBytes)} (${megabytes(neighbour.apiIdleBytes)} of it the API's, aim 100), peak ${megabytes(neighbour.peakBytes)} (${megabytes(neighbour.apiPeakBytes)} of it the API's), ${megabytes(neighbour.peakProportionalBytes)} with shared pages counted once (aim 300)`,
  );
});

await run('slow-origin', async () => {
  // The second run has a quarter of the rate, for machines that cannot reach the first.
  for (const delayMs of [1_000, 4_000]) {
    const { requestsPerSecond, limit } = await measureSlowOrigin(2_000, delayMs);
    print(
      `slow origin (${delayMs / 1000} s, concurrency 2,000): ${fixed(requestsPerSecond)} requests/s of ${fixed(limit)}, ratio ${fixed(requestsPerSecond / limit, 2)} (aim 0.9)`,
    );
  }
});

/** Prints the shares of an origin's allowed rate that are used, under two policies. */
async function printUsedShares(processes: string, options: WorkerOptions): Promise<void> {
  const fast = await measureRateLimited(200, 256, 1_000, options);
  const byDefault = await measureRateLimited(20, 8, 300, options);
  print(
    `${processes}: used share of 200 requests/s ${fixed(fast.used, 3)}, of 20 requests/s ${fixed(byDefault.used, 3)} (aim 0.97); the second with the most requests ${fixed(fast.peak, 2)} and ${fixed(byDefault.peak, 2)}`,
  );
}

await run('workers', async () => {
  const engines = await startBenchEngines();
  try {
    const addresses = { mongo: engines.mongoUri, nats: engines.natsUrl };
    let first = 0;
    for (const workers of [1, 2, 4]) {
      const concurrency = 150 * workers;
      const { requestsPerSecond, limit } = await measureSlowOrigin(concurrency, 1_000, {
        engines: addresses,
        workers,
      });
      first ||= requestsPerSecond;
      print(
        `${workers} workers, slow origin (1 s, concurrency ${concurrency}), ${engines.about}: ${fixed(requestsPerSecond)} requests/s of ${fixed(limit)}, ratio ${fixed(requestsPerSecond / limit, 2)}; to ${workers} times one worker ${fixed(requestsPerSecond / (workers * first), 2)} (aim 0.9)`,
      );
    }
    for (const workers of [1, 2, 4, 8]) {
      await printUsedShares(`${workers} page processes, embedded`, { pageProcesses: workers });
      await printUsedShares(`${workers} workers, ${engines.about}`, {
        engines: addresses,
        workers,
      });
    }
  } finally {
    await engines.stop();
  }
});

await run('origins', async () => {
  const engines = await startBenchEngines();
  try {
    const addresses = { mongo: engines.mongoUri, nats: engines.natsUrl };
    const { itemsPerSecond, idle, commands, perOriginSecond, each } = await measureManyOrigins({
      origins: manyOrigins,
      items: itemsOfOrigin,
      requestsPerSecond: 20,
      concurrency: 8,
      service: { engines: addresses, workers: 2 },
    });
    print(
      `${manyOrigins} origins, ${engines.about}: ${fixed(itemsPerSecond)} items/s, ${fixed(commands, 3)} commands of MongoDB per item (aim 0.4) beside ${fixed(idle, 1)} per second of an idle service`,
    );
    print(`  ${fixed(perOriginSecond, 2)} commands per second for the state of each origin`);
    for (const [command, perItem] of each.slice(0, 12)) print(`  ${fixed(perItem, 3)} ${command}`);
  } finally {
    await engines.stop();
  }
});

await run('noisy-user', async () => {
  const noisy = await measureNoisyUser(2_000);
  print(
    `noisy user: a 2,000-item job takes ${fixed(noisy.aloneMs)} ms alone, ${fixed(noisy.besideMs)} ms beside another user's 100 jobs, ratio ${fixed(noisy.besideMs / noisy.aloneMs, 2)} (aim 1.5)`,
  );
});

await run('retrieve', async () => {
  for (const { name, bytes, service, gateway, bare } of await measureRetrieve(rounds, calls)) {
    const rate = ({ callsPerSecond, processorUs }: CallRate) =>
      `${fixed(callsPerSecond)}/s at ${fixed(processorUs)} µs`;
    print(
      `${name} call, ${bytes} bytes: service ${rate(service)}, gateway alone ${rate(gateway)}, bare Express ${rate(bare)}`,
    );
    print(
      `  ratio of the service ${fixed(bare.processorUs / service.processorUs, 2)} (aim 0.6), of the gateway ${fixed(bare.processorUs / gateway.processorUs, 2)} (aim 0.85)`,
    );
  }
});

await run('rpc', async () => {
  for (const { protocol, gleanerUs, bareUs } of await measureRpc(rounds, rpcCalls)) {
    print(
      `GetAccount over ${protocol}: ${fixed(gleanerUs)} µs of processor time, bare connect-node ${fixed(bareUs)} µs, ratio ${fixed(gleanerUs / bareUs, 2)} (aim 1.25)`,
    );
  }
});

await run('growth', async () => {
  const sizes = {
    jobs: growthJobs,
    items: 50_000,
    schedules: 10_000,
    users: 200,
    stored: 10_000_000,
  };
  const { first, last, beside, users, idleMs, crowded } = await measureGrowth(
    sizes,
    (job, processorUs) =>
      print(
        `growth, job ${job} of 50,000 items: ${fixed(processorUs)} µs of processor time per item`,
      ),
  );
  print(`  ratio of job ${growthJobs} to the first ${fixed(last / first, 2)} (aim 1.1 for job 20)`);
  print(
    `  then beside 10,000 schedules ${fixed(beside)} µs (idle ${fixed(idleMs, 1)} ms per second), and 200 users at once ${fixed(users)} µs`,
  );
  print(
    `  beside 10,000,000 stored items ${fixed(crowded)} µs, ratio ${fixed(crowded / first, 2)}`,
  );
});

await run('explore', async () => {
  const { records, bytes, bareMs, firstMs, nextMs } = await measureExplore(rounds, 50_000);
  print(
    `explore: ${records.toLocaleString('en-US')} records, ${fixed(bytes / 1e6)} MB; reading and parsing them ${fixed(bareMs)} ms`,
  );
  for (const [name, ms] of Object.entries(firstMs))
    print(`  first ${name}: ${fixed(ms)} ms, ratio ${fixed(ms / bareMs, 2)}`);
  print(`  second page of the sort: ${fixed(nextMs)} ms`);
});
await run('history', async () => {
  const uri = process.env.MONGODB_TEST_URI;
  const result = uri
    ? await measureMongoHistory(uri, observations)
    : await measureSqliteHistory(observations);
  const { fillUs, write, read, listUs } = result;
  const compared = ({ storeUs, bareUs }: typeof read) =>
    `${fixed(storeUs)} µs, bare ${fixed(bareUs)} µs, ratio ${fixed(storeUs / bareUs, 2)}`;
  print(
    `history, ${uri ? 'MongoDB' : 'SQLite'}: ${observations.toLocaleString('en-US')} observations, ${fixed(fillUs, 1)} µs each`,
  );
  print(`  writing a changed item (observation, end of the one before, state): ${compared(write)}`);
  print(`  reading the 100 latest observations of an item: ${compared(read)}`);
  print(`  listing 50 tracked items: ${fixed(listUs)} µs`);
});

await run('peers', async () => {
  const results = await measurePeers(peerPages, print);
  for (const line of describePeers(results, peerPages)) print(line);
  if (peerPages === documentedPages) print(`picture: ${writePicture(results, peerPages)}`);
});
