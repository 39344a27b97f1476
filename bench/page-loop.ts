import { Agent } from 'undici';
import { systemClock } from '../src/base/clock.ts';
import { createLog } from '../src/base/log.ts';
import { parseOrigins } from '../src/base/origins.ts';
import { createHttpFetcher } from '../src/fetch/http.ts';
import { trustCertificate } from '../test/support/servers/certificate.ts';

// Requests one page repeatedly in 32 concurrent loops and discards it:
// `page-loop.ts <gleaner|bare> <origin> <pages>`. "bare" is plain undici that offers the same
// protocols.
const [contender, origin, pages] = process.argv.slice(2) as ['gleaner' | 'bare', string, string];
const concurrency = 32;
const path = '/page';
trustCertificate();

async function bareFetch(): Promise<() => Promise<number>> {
  const agent = new Agent({ allowH2: true, connect: { preferH2: true } });
  return async () => {
    const { statusCode, body } = await agent.request({ origin, path, method: 'GET' });
    await body.bytes();
    return statusCode;
  };
}

async function gleanerFetch(): Promise<() => Promise<number>> {
  const fetcher = createHttpFetcher({
    origins: parseOrigins(JSON.stringify({ mkta: { id: origin } })),
    clock: systemClock,
    log: createLog('info', 'bench'),
    userAgent: 'Gleaner',
  });
  const signal = new AbortController().signal;
  return async () => (await fetcher.for('mkta', 'id', signal)({ path })).status;
}

const fetchPage = await (contender === 'bare' ? bareFetch() : gleanerFetch());

async function round(): Promise<void> {
  let left = Number(pages);
  const loop = async () => {
    while (left-- > 0) {
      const status = await fetchPage();
      if (status !== 200) throw new Error(`the origin answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
}

process.on('message', async () => {
  await round();
  process.send!('done');
});
process.once('disconnect', () => process.exit(0));
process.send!('ready');
