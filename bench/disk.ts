import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { benchPages, region } from './support/pages.ts';
import { startBenchProgram } from './support/program.ts';
import { startService } from './support/service.ts';

/** Disk usage of a job on the embedded stack, in bytes. */
export interface DiskResult {
  /** Size of the merged file. */
  mergedBytes: number;
  /** Growth of the result folder. */
  resultBytes: number;
  /** Files in it after the job, and the most that a look at it found while the job ran. */
  files: number;
  maxFiles: number;
  /** Growth of the rest of the data folder: the database with its log. */
  databaseBytes: number;
}

const distinct = 4_000;
const pollMs = 100;

/** Measures what a variant-sold job of `items` items adds to the data folder. */
export async function measureDisk(items: number): Promise<DiskResult> {
  const origin = await startBenchProgram<number>('origin.ts', String(distinct));
  const address = `http://127.0.0.1:${origin.firstMessage}`;
  const service = await startService({
    origins: { mkta: { [region]: address, concurrency: 32, requests_per_second: 10_000 } },
  });
  const { rest, dataDir } = service;
  const resultFolder = join(dataDir, 'results');
  const sizes = () => {
    const results = bytesIn(resultFolder);
    return { results, others: bytesIn(dataDir) - results };
  };
  try {
    const pages = benchPages(distinct).map(({ item_id, shop_id }) => ({ item_id, shop_id }));
    const before = sizes();
    const { job_id } = await rest.call('POST', '/v1/mkta/variant_sold_v1/submit', {
      country: region,
      items: Array.from({ length: items }, (_, index) => pages[index % distinct]!),
    });
    await service.approve(String(job_id));
    let maxFiles = 0;
    for (;;) {
      maxFiles = Math.max(maxFiles, filesIn(resultFolder).length);
      const job = await rest.call('GET', `/v1/jobs/${job_id}`);
      if (job.finished_at) break;
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    const after = sizes();
    const merged = join(resultFolder, String(job_id), `full_${job_id}.json`);
    return {
      files: filesIn(resultFolder).length,
      maxFiles,
      mergedBytes: lstatSync(merged).size,
      resultBytes: after.results - before.results,
      databaseBytes: after.others - before.others,
    };
  } finally {
    await service.stop();
    await origin.stop();
  }
}

function bytesIn(folder: string): number {
  return filesIn(folder).reduce(
    (sum, path) => sum + (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
