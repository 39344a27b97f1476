import { median } from './support/rounds.ts';
import { startService } from './support/service.ts';
import { forgetPeak, memory, processorMs } from './support/usage.ts';

/** What submits of many items came to. */
export interface SubmitResult {
  /** Milliseconds from the first byte sent to the last received: of the process's first submit, and the median. */
  firstMs: number;
  ms: number;
  /** Processor time per item in microseconds. */
  processorUs: number;
  /** Most memory over what the process held before the first submit, in bytes. */
  extraBytes: number;
}

/** Submits a variant-sold job of `items` items over REST so many times to a service that was just started. */
export async function measureSubmit(
  rounds: number,
  items: number,
  profileFolder?: string,
): Promise<SubmitResult> {
  const service = await startService({ profileFolder });
  const body = JSON.stringify({
    country: 'id',
    items: Array.from({ length: items }, (_, index) => ({
      item_id: String(20_000_000_000 + index),
      shop_id: String(500_000_000 + (index % 1_000)),
    })),
  });
  try {
    const before = memory(service.pid).now;
    forgetPeak(service.pid);
    const used = processorMs(service.pid);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const started = performance.now();
      const response = await fetch(`${service.url}/v1/mkta/variant_sold_v1/submit`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
        body,
      });
      const answer = (await response.json()) as { total_items?: number };
      times.push(performance.now() - started);
      if (answer.total_items !== items) throw new Error(`the submit answered ${JSON.stringify(answer)}`);
    }
    return {
      firstMs: times[0]!,
      ms: median(times),
      processorUs: ((processorMs(service.pid) - used) / rounds / items) * 1000,
      extraBytes: memory(service.pid).peak - before,
    };
  } finally {
    await service.stop();
  }
}
