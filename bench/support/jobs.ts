import { type BenchPage, region } from './pages.ts';
import type { RestClient } from './rest.ts';
import type { BenchService } from './service.ts';

const pollMs = 50;

/** Submits and approves a variant-sold job of `items` items, repeating the pages as needed. */
export async function startJob(
  { approve }: BenchService,
  rest: RestClient,
  pages: readonly BenchPage[],
  items: number,
): Promise<string> {
  const targets = pages.map(({ item_id, shop_id }) => ({ item_id, shop_id }));
  const { job_id } = await rest.call('POST', '/v1/mkta/variant_sold_v1/submit', {
    country: region,
    items: Array.from({ length: items }, (_, index) => targets[index % targets.length]!),
  });
  await approve(String(job_id));
  return String(job_id);
}

/** Polls until the job's merged file is available. */
export async function endOfJob(rest: RestClient, jobId: string, everyMs = pollMs): Promise<void> {
  for (;;) {
    const job = await rest.call('GET', `/v1/mkta/variant_sold_v1/download/${jobId}`);
    if (job.failed_count !== 0) throw new Error(`${job.failed_count} items failed`);
    if (job.download_url) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
