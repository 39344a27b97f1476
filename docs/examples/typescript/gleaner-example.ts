// Submits product pages of marketplace B, waits for the job's end, downloads its files, and prints
// the failed units.
//
//   export GLEANER_URL=http://127.0.0.1:8080 GLEANER_API_KEY=gl_…
//   node docs/examples/typescript/gleaner-example.ts toko-7/barang-1001 toko-7/barang-1002
//
// In your own project, the client comes from the package: import … from '@gleaner/client'.
import {
  createGleanerClient,
  GleanerError,
  JobService,
  MktbService,
} from '../../../clients/typescript/index.ts';

const { GLEANER_URL: url, GLEANER_API_KEY: apiKey } = process.env;
const products = process.argv.slice(2).map((text) => {
  const [shopDomain = '', productKey = ''] = text.split('/');
  return { shopDomain, productKey };
});
if (!url || !apiKey || products.length === 0) {
  console.error('Set GLEANER_URL and GLEANER_API_KEY, and name products: <shop>/<product> …');
  process.exit(2);
}

const gleaner = createGleanerClient({ url, apiKey });
try {
  const { jobId, response } = await gleaner.submit(MktbService.method.submitPdpBulk, {
    items: products,
  });
  console.error(`job ${jobId} for ${response.cost} credits`);

  const job = await gleaner.wait(jobId, {
    onProgress: ({ status, success, failed, total }) =>
      console.error(`${status}: ${success} done, ${failed} failed, ${total} in all`),
  });

  for (const { path, file } of await gleaner.downloadAll(jobId, 'results'))
    console.log(`${path} ${file.items} records, SHA-256 ${file.sha256}`);

  // Streamed as it comes: a job may have many.
  if (job.failed > 0) {
    const failures = await gleaner.stream(JobService.method.streamFailures, {
      jobId,
      format: 'jsonl',
    });
    for await (const line of failures.lines()) {
      const { key, code, message } = JSON.parse(line);
      console.error(`${key}: ${code}, ${message}`);
    }
  }
  process.exitCode = job.status === 'completed' ? 0 : 1;
} catch (error) {
  if (!(error instanceof GleanerError)) throw error;
  console.error(`${error.status}: ${error.detail}`);
  if (error.shortfall !== undefined) console.error(`${error.shortfall} credits are missing`);
  process.exitCode = 1;
}
