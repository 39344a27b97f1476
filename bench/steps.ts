import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runJob, submitJob, timed } from './pipeline.ts';
import type { Step } from './step-loop.ts';
import { countingOptions, type Operations, operationsOf, since } from './support/operations.ts';
import { benchPages, region } from './support/pages.ts';
import { type BenchProgram, startBenchProgram } from './support/program.ts';
import { interleave, median } from './support/rounds.ts';
import { startService } from './support/service.ts';

/** Processor time per item after a step was added to the bare loop. */
export interface StepCost {
  step: string;
  processorUs: number;
  /** Ratio to the bare loop of the same round, median over the rounds. */
  ratio: number;
}

const concurrency = 32;

const loops: readonly { step: Step; about: string }[] = [
  {
    step: 'fetcher',
    about: 'the fetcher: limits of size and time, decoding, cookies, address checks',
  },
  {
    step: 'policy',
    about: 'the policy of the origin: permits, rate, circuit breaker, page memory',
  },
  { step: 'record', about: 'extraction and check of the record, in place of the page' },
  { step: 'segments', about: 'a durable file with a digest per batch of 50, in place of one file' },
];

const names = [
  'the bare loop',
  ...loops.map(({ about }) => about),
  'two such loops at a time, one per processor, each with all items',
  'the service with one worker process: API, queue, state of batches and units, merged file',
  'the service with two worker processes',
];

/**
 * Adds the steps of the service to the bare loop one by one, in one process each, and measures each
 * stage. The last two stages are the whole service.
 */
export async function measureSteps(rounds: number, items: number): Promise<StepCost[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-steps-'));
  const origin = await startBenchProgram<number>('origin.ts', String(items));
  const address = `http://127.0.0.1:${origin.firstMessage}`;
  const origins = { mkta: { [region]: address, concurrency, requests_per_second: 10_000 } };
  const originsFile = join(folder, 'origins.json');
  writeFileSync(originsFile, JSON.stringify(origins));
  const common = [String(items), String(concurrency)] as const;
  const startLoop = (step: Step, name: string = step) =>
    startBenchProgram('step-loop.ts', step, ...common, join(folder, name), originsFile);
  const bare = await startBenchProgram('bare-loop.ts', address, ...common, join(folder, 'pages'));
  const programs = await Promise.all(loops.map(({ step }) => startLoop(step)));
  const second = await startLoop('segments', 'second');
  const services = [
    await startService({ origins, pageProcesses: 1 }),
    await startService({ origins, pageProcesses: 2 }),
  ];
  const pages = benchPages(items);
  const ask =
    (...group: BenchProgram[]) =>
    async () => {
      const pids = group.map(({ pid }) => pid);
      const run = () => Promise.all(group.map((program) => program.ask('go')));
      return (await timed(items * group.length, pids, run)).processorUs;
    };
  try {
    const measured = await interleave(rounds, [
      ask(bare),
      ...programs.map((program) => ask(program)),
      ask(programs.at(-1)!, second),
      ...services.map((service) => async () => (await runJob(service, pages)).processorUs),
    ]);
    return names.map((step, index) => ({
      step,
      processorUs: median(measured[index]!),
      ratio: median(measured[index]!.map((value, round) => value / measured[0]![round]!)),
    }));
  } finally {
    for (const service of services) await service.stop();
    for (const program of [bare, ...programs, second, origin]) await program.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Counts what the service does for a variant-sold job of `items` items, in batches of 50, from its
 * approval on. The counts hardly depend on the load of the machine.
 */
export async function measureOperations(items: number): Promise<Operations> {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-operations-'));
  const file = join(folder, 'counts');
  const origin = await startBenchProgram<number>('origin.ts', String(items));
  process.env.BENCH_OPERATIONS = file;
  const service = await startService({
    origins: {
      mkta: {
        [region]: `http://127.0.0.1:${origin.firstMessage}`,
        concurrency,
        requests_per_second: 10_000,
      },
    },
    nodeOptions: countingOptions,
  });
  try {
    const pages = benchPages(items);
    await runJob(service, pages);
    const jobId = await submitJob(service, pages);
    const before = await operationsOf(service.pid, file);
    await service.approve(jobId);
    await service.rest.call('GET', `/v1/mkta/variant_sold_v1/retrieve/${jobId}?wait=60s`);
    return since(before, await operationsOf(service.pid, file));
  } finally {
    await service.stop();
    await origin.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
