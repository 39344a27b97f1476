import { createKey } from '../../../src/access/keys.ts';
import { createApp } from '../../../src/api/rest/fixture.ts';
import { type RunningServer, startServer } from '../../../src/api/rest/server.ts';
import { type Core, createCore } from '../../../src/api/services/core.ts';
import { createRpcListener, type RpcListener } from '../../../src/api/transport/adapter.ts';
import { createAdmissionTokens } from '../../../src/api/transport/admission-token.ts';
import { createCoreClient } from '../../../src/api/transport/core-client.ts';
import { routeHealth } from '../../../src/api/transport/health.ts';
import { createRemoteCore } from '../../../src/api/transport/remote.ts';
import { routeCore } from '../../../src/api/transport/routes.ts';
import { type ListeningServer, listen } from '../../../src/api/transport/server.ts';
import { type ConnectionLimits, defaultConnectionLimits } from '../../../src/base/connections.ts';
import { createBodyBudget } from '../../../src/contract/body-budget.ts';
import { services } from '../../../src/contract/services.ts';
import type { JobContext } from '../../../src/jobs/context.ts';
import { deriveLinkSecrets } from '../../../src/links/secrets.ts';
import { openJobFixture } from '../jobs/jobs.ts';

/** A core on a port, a front process that forwards to it, and a user's API key. */
export interface RpcFixture {
  core: Core;
  /** Listener of the core's port. */
  listener: RpcListener;
  server: ListeningServer;
  front: ListeningServer;
  /** REST and Connect for browsers over the same core. */
  gateway: RunningServer;
  context: JobContext;
  authorization: string;
  close(): Promise<void>;
}

/** Opens the fixture over a store in memory. `started`: whether the core's process has started. */
export async function openRpcFixture(
  limits: Partial<ConnectionLimits> = {},
  started: () => boolean = () => true,
): Promise<RpcFixture> {
  const fixture = await openJobFixture({ approval: false });
  const { store, log } = fixture.context;
  const userId = await fixture.createUser(1_000);
  const createdAt = fixture.clock.now();
  const key = { userId, role: 'user' as const, name: 'test', createdAt, expiresAt: null };
  const { apiKey } = await createKey(store, key);
  const declared = services.filter(({ typeName }) => !/mkt[b-f]|sites/.test(typeName));
  const core = createCore(fixture.context, declared, { started });
  const budget = createBodyBudget();
  const admissions = createAdmissionTokens({
    secrets: deriveLinkSecrets(['of gateways'], fixture.clock),
    clock: fixture.clock,
  });
  const routes = [routeCore(core, log, admissions), routeHealth(core, fixture.clock)];
  const listener = createRpcListener((router) => {
    for (const route of routes) route(router);
  }, budget);
  const server = await listen(listener, '127.0.0.1', 0, { ...defaultConnectionLimits, ...limits });
  const app = createApp({
    services: declared,
    caller: createCoreClient(core),
    files: fixture.context.blobs,
    log,
    clock: fixture.clock,
    mounts: [listener],
    budget,
  });
  const gateway = await startServer(app, 0, '127.0.0.1', { ...defaultConnectionLimits, ...limits });
  const stopping = new AbortController();
  const remote = createRemoteCore(`http://127.0.0.1:${server.port}`, {
    services: declared,
    admissions,
    stopping: stopping.signal,
  });
  const front = await listen(createRpcListener(routeCore(remote, log), budget), '127.0.0.1', 0);
  return {
    core,
    listener,
    server,
    front,
    gateway,
    context: fixture.context,
    authorization: `Bearer ${apiKey}`,
    async close() {
      stopping.abort();
      fixture.context.changes.stop();
      await gateway.close(0);
      await front.close();
      await server.close();
      await fixture.close();
    },
  };
}
