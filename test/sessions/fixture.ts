import { createKey } from '../../src/access/keys.ts';
import { createApp } from '../../src/api/rest/fixture.ts';
import { type RunningServer, startServer } from '../../src/api/rest/server.ts';
import { type Core, createCore } from '../../src/api/services/core.ts';
import { createRpcListener } from '../../src/api/transport/adapter.ts';
import { createAdmissionTokens } from '../../src/api/transport/admission-token.ts';
import { createCoreClient } from '../../src/api/transport/core-client.ts';
import { createRemoteCore } from '../../src/api/transport/remote.ts';
import { routeCore } from '../../src/api/transport/routes.ts';
import { listen } from '../../src/api/transport/server.ts';
import { createBodyBudget } from '../../src/contract/body-budget.ts';
import { services } from '../../src/contract/services.ts';
import { deriveLinkSecrets } from '../../src/links/secrets.ts';
import { aUser } from '../../src/store/conformance/samples.ts';
import type { Role } from '../../src/store/documents.ts';
import type { Store } from '../../src/store/store.ts';
import { type JobFixture, openJobFixture } from '../support/jobs/jobs.ts';

/** A gateway over a core in the same process, or over the core of another one. */
export type Edge = 'api' | 'gateway';

/** Gateways over one store, and accounts with keys. */
export interface SessionFixture {
  jobs: JobFixture;
  /** Starts a further process and returns the address of its HTTP port. */
  startProcess(edge: Edge): Promise<string>;
  createAccount(
    role: Role,
    expiresAt?: number,
  ): Promise<{ userId: string; keyId: string; apiKey: string }>;
  close(): Promise<void>;
}

const declared = services.filter(({ typeName }) => !/mkt[b-f]|sites/.test(typeName));

/** Opens the fixture over a store. */
export async function openSessionFixture(store?: Store): Promise<SessionFixture> {
  const jobs = await openJobFixture({}, store);
  const { context, clock } = jobs;
  const resources = new AsyncDisposableStack();
  resources.defer(jobs.close);
  const stopping = new AbortController();
  const budget = createBodyBudget();
  const admissions = createAdmissionTokens({
    secrets: deriveLinkSecrets(['of gateways'], clock),
    clock: clock,
  });

  const openRemote = async (core: Core) => {
    const server = await listen(
      createRpcListener(routeCore(core, context.log, admissions), budget),
      '127.0.0.1',
      0,
    );
    resources.defer(() => server.close());
    const remote = createRemoteCore(`http://127.0.0.1:${server.port}`, {
      services: declared,
      admissions,
      stopping: stopping.signal,
    });
    return { caller: createCoreClient(remote), routes: routeCore(remote, context.log) };
  };

  return {
    jobs,
    async startProcess(edge) {
      const core = createCore(context, declared);
      const { caller, routes } =
        edge === 'gateway'
          ? await openRemote(core)
          : { caller: createCoreClient(core), routes: routeCore(core, context.log) };
      const app = createApp({
        services: declared,
        caller,
        files: context.blobs,
        log: context.log,
        clock,
        // Cookies stay limited to pages of the service.
        corsOrigins: ['https://app.example'],
        mounts: [createRpcListener(routes, budget)],
        budget,
      });
      const server: RunningServer = await startServer(app, 0, '127.0.0.1');
      resources.defer(() => server.close(0));
      return `http://127.0.0.1:${server.port}`;
    },
    async createAccount(role, expiresAt) {
      const createdAt = clock.now();
      const user = aUser({ name: `Ann the ${role}`, email: '', role, createdAt });
      await context.store.users.insert(user);
      const userId = user.id;
      const request = { userId, role, name: 'laptop', createdAt, expiresAt: expiresAt ?? null };
      return { userId, ...(await createKey(context.store, request)) };
    },
    async close() {
      stopping.abort();
      context.changes.stop();
      await resources.disposeAsync();
    },
  };
}

/** Response of a gateway. */
export interface SessionResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every endpoint.
  body: any;
  /** Value of the Set-Cookie header. */
  setCookie: string | null;
}

/** Sends a request; `body` is sent as JSON. */
export async function send(
  method: string,
  url: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<SessionResponse> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === '' ? null : JSON.parse(text),
    setCookie: response.headers.get('set-cookie'),
  };
}

/** Credentials that a signed-in browser sends with the console's requests. */
export interface SignedIn {
  cookie: string;
  csrf: string;
  headers: Record<string, string>;
  response: SessionResponse;
}

/** Signs in with an API key. */
export async function signInWith(
  url: string,
  apiKey: string,
  headers: Record<string, string> = {},
): Promise<SignedIn> {
  const response = await send('POST', `${url}/console/session`, {
    ...headers,
    authorization: `Bearer ${apiKey}`,
  });
  if (response.status !== 201)
    throw new Error(`${response.status} ${JSON.stringify(response.body)}`);
  const cookie = response.setCookie!.split(';')[0]!;
  const csrf = response.body.csrf_token;
  return { cookie, csrf, headers: { cookie, 'x-csrf-token': csrf }, response };
}
