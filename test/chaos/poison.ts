import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import type { Origin } from '../../sandbox/origin.ts';
import { ownerOf } from '../support/service/process-tree.ts';
import { type ChaosWork, variantWork } from './works.ts';

const region = 'my';
const ids = plainIds(30, 39_000_000_000).map(String);
const poison = ids[17]!;

/** A job in which the page of one item kills the process that reads it. */
export const poisonedWork: ChaosWork = {
  ...variantWork,
  name: 'variant_sold with a poisonous page',
  poison,
  subjects: () => ids,
  submit: (client, subjects, idempotencyKey) =>
    client.submit(MktaService.method.submitVariantSold, requestOf(subjects), { idempotencyKey }),
};

const requestOf = (subjects: readonly string[]) => ({
  country: region,
  items: subjects.map((itemId) => ({ itemId, shopId: '77' })),
});

/** A marketplace with a poisonous page. */
export interface PoisonedSite {
  market: string;
  region: string;
  url: string;
  /** Number of processes killed. */
  kills(): number;
  stop(): Promise<void>;
}

/**
 * Serves the pages of an origin. On a request for the poisonous page, the process among
 * `workerPids` that sent it is killed with SIGKILL, as the kernel does when memory runs out.
 */
export async function startPoisonedSite(
  origin: Origin,
  workerPids: () => readonly number[],
): Promise<PoisonedSite> {
  let kills = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://poisoned.test');
    const headers = request.headers as Record<string, string>;
    const reply = origin.respond({ method: request.method!, url, headers, body: '', region });
    if (url.searchParams.get('item_id') !== poison) {
      response.writeHead(reply.status, reply.headers).end(reply.body);
      return;
    }
    const reader = ownerOf(workerPids(), request.socket);
    if (reader !== undefined) {
      kills += 1;
      process.kill(reader, 'SIGKILL');
    }
    request.socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    market: origin.market,
    region,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    kills: () => kills,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
