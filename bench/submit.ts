import { median } from './support/rounds.ts';
import { startService } from './support/service.ts';
import { forgetPeak, memory, processorMs } from './support/usage.ts';

/** Time for the service to become idle after its start. */
const settleMs = 2_000;

/** Cost of submissions with many items. */
export interface SubmitResult {
  /**
   * Milliseconds from the first byte sent to the last byte received, for the first submit and as
   * the median.
   */
  firstMs: number;
  ms: number;
  /** CPU time per item in microseconds. */
  processorUs: number;
  /**
   * Peak resident memory of the API process above its idle memory in bytes: during the first
   * submission, and during all.
   */
  firstExtraBytes: number;
  extraBytes: number;
  /** The same for the sum of all processes of the service during all submissions. */
  allExtraBytes: number;
}

/**
 * Measures `rounds` submissions of a variant-sold job of `items` items over REST to a service that
 * was just started. The jobs stay unapproved, so no worker process starts meanwhile.
 */
export async function measureSubmit(rounds: number, items: number): Promise<SubmitResult> {
  const service = await startService();
  const body = JSON.stringify({
    country: 'id',
    items: Array.from({ length: items }, (_, index) => ({
      item_id: String(20_000_000_000 + index),
      shop_id: String(500_000_000 + (index % 1_000)),
    })),
  });
  try {
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    const before = memory(service.pid);
    let firstPeak = 0;
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
      const accepted = (await response.json()) as { total_items?: number };
      times.push(performance.now() - started);
      if (accepted.total_items !== items)
        throw new Error(`the submission returned ${JSON.stringify(accepted)}`);
      if (round === 0) firstPeak = memory(service.pid).own.peak;
    }
    const after = memory(service.pid);
    return {
      firstMs: times[0]!,
      ms: median(times),
      processorUs: ((processorMs(service.pid) - used) / rounds / items) * 1000,
      firstExtraBytes: firstPeak - before.own.now,
      extraBytes: after.own.peak - before.own.now,
      allExtraBytes: after.peak - before.now,
    };
  } finally {
    await service.stop();
  }
}
