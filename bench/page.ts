import type { PageOriginPorts } from './page-origin.ts';
import { type BenchProgram, startBenchProgram } from './support/program.ts';
import { interleave, median } from './support/rounds.ts';
import { processorMs } from './support/usage.ts';

/** Median CPU time per page in microseconds over one protocol. */
export interface PageResult {
  protocol: string;
  /** With the fetcher: limits, cookies, decoding, and transfer timeout. */
  gleanerUs: number;
  /** With plain undici. */
  bareUs: number;
}

const protocols = [
  { protocol: 'HTTP/1.1', server: 'plain', scheme: 'http' },
  { protocol: 'HTTP/1.1 over TLS', server: 'tls', scheme: 'https' },
  { protocol: 'HTTP/2 over TLS', server: 'h2', scheme: 'https' },
] as const;

/**
 * Compares the fetcher, without origin policy, store, and extraction, with undici requesting the
 * same page.
 */
export async function measurePage(rounds: number, pages: number): Promise<PageResult[]> {
  const origin = await startBenchProgram<PageOriginPorts>('page-origin.ts');
  const results: PageResult[] = [];
  try {
    for (const { protocol, server, scheme } of protocols) {
      const address = `${scheme}://127.0.0.1:${origin.firstMessage[server]}`;
      const start = (contender: string) =>
        startBenchProgram('page-loop.ts', contender, address, String(pages));
      const [gleaner, bare] = await Promise.all([start('gleaner'), start('bare')]);
      const measure = (program: BenchProgram) => async () => {
        const before = processorMs(program.pid);
        await program.ask('round');
        return ((processorMs(program.pid) - before) / pages) * 1000;
      };
      const [ours, theirs] = await interleave(rounds, [measure(gleaner), measure(bare)]);
      results.push({ protocol, gleanerUs: median(ours!), bareUs: median(theirs!) });
      await Promise.all([gleaner.stop(), bare.stop()]);
    }
  } finally {
    await origin.stop();
  }
  return results;
}
