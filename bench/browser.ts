import { type BenchProgram, startBenchProgram } from './support/program.ts';
import { interleave, median } from './support/rounds.ts';
import { memory, ownProcessorMs } from './support/usage.ts';

/** Cost of pages in a browser. */
export interface PageCost {
  pagesPerSecond: number;
  /** Processor time per page of the process that controls the browser. */
  processorMs: number;
  /** Largest sum of the proportional memory of the browser's processes. */
  peakBytes: number;
}

/**
 * Pages loaded at once with the fetcher and with the driver alone. Medians of the rounds, and the
 * peak.
 */
export interface BrowserResult {
  concurrency: number;
  gleaner: PageCost;
  bare: PageCost;
}

/** Interval between readings of the memory. */
const readingMs = 250;

/**
 * Compares the fetcher, without origin policy, store, and extraction, with the driver loading the
 * same pages.
 */
export async function measureBrowser(rounds: number, pages: number): Promise<BrowserResult[]> {
  const origin = await startBenchProgram<number>('browser-origin.ts');
  const results: BrowserResult[] = [];
  try {
    for (const concurrency of [1, 4]) {
      const address = `http://127.0.0.1:${origin.firstMessage}`;
      const start = (contender: string) =>
        startBenchProgram('browser-loop.ts', contender, address, String(concurrency));
      const [gleaner, bare] = await Promise.all([start('gleaner'), start('bare')]);
      const [ours, theirs] = await interleave(rounds, [
        () => measureRound(gleaner, pages),
        () => measureRound(bare, pages),
      ]);
      results.push({ concurrency, gleaner: summarize(ours!), bare: summarize(theirs!) });
      await Promise.all([gleaner.stop(), bare.stop()]);
    }
  } finally {
    await origin.stop();
  }
  return results;
}

async function measureRound(program: BenchProgram, pages: number): Promise<PageCost> {
  const startedAt = performance.now();
  const before = ownProcessorMs(program.pid);
  let peakBytes = 0;
  const timer = setInterval(() => {
    const { proportional, own } = memory(program.pid);
    peakBytes = Math.max(peakBytes, proportional - own.proportional);
  }, readingMs);
  await program.ask(String(pages));
  clearInterval(timer);
  return {
    pagesPerSecond: pages / ((performance.now() - startedAt) / 1_000),
    processorMs: (ownProcessorMs(program.pid) - before) / pages,
    peakBytes,
  };
}

const summarize = (rounds: readonly PageCost[]): PageCost => ({
  pagesPerSecond: median(rounds.map(({ pagesPerSecond }) => pagesPerSecond)),
  processorMs: median(rounds.map(({ processorMs }) => processorMs)),
  peakBytes: Math.max(...rounds.map(({ peakBytes }) => peakBytes)),
});
