import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { productPage } from '../../sandbox/mkta/product-page.ts';
import { distributedStacks, type Engines, openStacks, stacks } from '../support/engines/engines.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';

const [embedded] = await openStacks(stacks.filter(({ distributed }) => !distributed));

/** The embedded stack and the distributed ones, with their engines. */
export const openedStacks = [embedded!, ...(await openStacks(distributedStacks))];

/**
 * Serves product pages of marketplace A after `gate` has resolved. Ids ending in 801 do not exist.
 */
export async function startProductOrigin(
  gate: (request: IncomingMessage) => Promise<void> = async () => {},
): Promise<Server> {
  const server = createServer(async (request, response) => {
    await gate(request);
    const itemId = /[?&]item_id=(\d+)/.exec(request.url ?? '')?.[1] ?? '';
    const missing = '{"error":4,"error_msg":"item not found","data":null}';
    const page = itemId.endsWith('801') ? missing : productPage('id', Number(itemId), 77);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Options for deployWorkers(). */
export interface WorkerDeploymentOptions {
  /** Stack whose engines run. */
  stack: { engines: Engines | null; distributed: boolean };
  /** Listening server of marketplace A's region id. */
  origin: Server;
  /** Module of the service, if it is not the product's own. */
  program?: string;
  settings: Record<string, string>;
}

/**
 * Creates a service of separate processes, with one process that starts workers, before it is
 * started.
 */
export function deployWorkers(options: WorkerDeploymentOptions): Promise<Deployment> {
  const { stack, origin, program, settings } = options;
  const id = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  return createDeployment({
    inProcess: false,
    program,
    stack: { distributed: stack.distributed },
    engines: stack.engines as Engines,
    origins: { config: { mkta: { id } } } as never,
    originLimits: { concurrency: 16, requests_per_second: 200 },
    settings,
    layout: { apis: 1, workers: 1, gateways: 0 },
  });
}
