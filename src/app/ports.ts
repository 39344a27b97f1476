import { serveConsole } from '../api/rest/console.ts';
import { createConversions } from '../api/rest/conversions.ts';
import type { ExportFile, RestoreFile } from '../api/rest/files.ts';
import { createRestApi, type RestCaller } from '../api/rest/rest.ts';
import { type RunningServer, startServer } from '../api/rest/server.ts';
import type { Core } from '../api/services/core.ts';
import { createRpcListener } from '../api/transport/adapter.ts';
import { createCoreClient } from '../api/transport/core-client.ts';
import {
  createRemoteExport,
  createRemoteRestore,
  routeFileExport,
} from '../api/transport/file-export.ts';
import { routeHealth } from '../api/transport/health.ts';
import { routeReflection } from '../api/transport/reflection.ts';
import { createRemoteCore } from '../api/transport/remote.ts';
import { routeCore } from '../api/transport/routes.ts';
import { type ListeningServer, listen } from '../api/transport/server.ts';
import { type ConnectionLimits, defaultConnectionLimits } from '../base/connections.ts';
import { onDemand } from '../base/on-demand.ts';
import { packageVersion } from '../base/package-folder.ts';
import { type BodyBudget, createBodyBudget } from '../contract/body-budget.ts';
import { services } from '../contract/services.ts';
import { drawSandboxPicture, isSandboxPicture } from '../fetch/sandbox-picture.ts';
import { exportFile } from '../jobs/queries/files.ts';
import { restoreFile } from '../jobs/steps/restore-file.ts';
import { nameRoute, type RequestMetrics } from '../telemetry/metrics.ts';
import { traceRequests } from '../telemetry/server-spans.ts';
import { createKeyDirectory } from './bot-identity.ts';
import type { Program } from './compose.ts';
import { servingGauges } from './gauges.ts';
import { listening } from './ops-port.ts';
import { partsOfRole } from './roles.ts';
import type { StartingService } from './starting-service.ts';

/** Time in which requests end when a port closes, in milliseconds. */
export const graceMs = 3_000;

/** Wildcard hosts, which listen on every address of the machine, in the form of URLs. */
const everyAddress = new Set(['0.0.0.0', '[::]', '[::ffff:0:0]']);

/** Returns true if a listener on a host accepts connections to every address of the machine. */
export const isEveryAddress = (host: string): boolean => everyAddress.has(hostOf(host));

/** Returns the address at which a port that listens on `host` can be reached from this machine. */
export const serviceAddress = (host: string, port: number): string =>
  `http://${reachableHost(host)}:${port}`;

/** Returns the host at which a port that listens on `host` can be reached from this machine. */
export const reachableHost = (host: string): string =>
  isEveryAddress(host) ? '127.0.0.1' : hostOf(host);

/** Returns a host in its normal form within a URL: `[::1]`, and `127.0.0.1` for `127.1`. */
function hostOf(host: string): string {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host.replace('%', '%25')}]` : host;
  return URL.parse(`http://${name}`)?.hostname ?? name;
}

/** Opens the ports of a role for requests: RPC with a core, HTTP with a gateway. */
export async function openPorts(starting: StartingService, core: Core | null): Promise<Ports> {
  const { role, program, telemetry, stopping, resources } = starting;
  const { config, context, log } = program;
  const limits = { ...defaultConnectionLimits, maxConnections: config.limits.maxConnections };
  const options = { budget: createBodyBudget(), limits, requests: telemetry?.requests ?? null };
  const ports: Ports = { http: null, rpc: null, ready: null };
  if (core) {
    const rpc = await openCorePort(core, program, options);
    resources.defer(() => rpc.close());
    Object.assign(ports, { rpc, ready: () => core.ready() });
  }
  if (partsOfRole[role].gateway) {
    const edge = core
      ? { caller: createCoreClient(core), routes: routeCore(core, log), ...filesOf(context) }
      : remoteEdge(config.coreUrl, program, stopping);
    const http = await openGateway(starting, edge, options);
    Object.assign(ports, { http, ready: () => edge.caller.ready() });
  }
  const { http, rpc } = ports;
  if (http || rpc)
    telemetry?.observe(servingGauges(options.budget, { http, rpc }, limits.maxConnections));
  return ports;
}

/** Open ports, and the check of what they need. */
interface Ports {
  http: RunningServer | null;
  rpc: ListeningServer | null;
  ready: (() => Promise<void>) | null;
}

/** Limits and measurements of a port. */
interface PortOptions {
  budget: BodyBudget;
  limits: ConnectionLimits;
  requests: RequestMetrics | null;
}

/** Serves the core over gRPC and Connect. */
function openCorePort(
  core: Core,
  { config, context, links, admissions, log, clock }: Program,
  { budget, limits, requests }: PortOptions,
): Promise<ListeningServer> {
  const exporting = { ...filesOf(context), verifyLink: links.verify, log };
  const routes = [
    routeCore(core, log, admissions),
    routeFileExport(exporting),
    routeHealth(core, clock),
    routeReflection(services),
  ];
  const listener = createRpcListener((router) => {
    for (const route of routes) route(router);
  }, budget);
  const { host, grpcPort: port } = config;
  const opened = listen(requests?.measure(listener) ?? listener, host, port, limits);
  return listening(opened, { host, port, setting: 'GLEANER_GRPC_PORT' });
}

/** Ways of a gateway to the core. */
interface Edge {
  caller: RestCaller;
  routes: Parameters<typeof createRpcListener>[0];
  exportFile: ExportFile;
  restoreFile: RestoreFile;
  accountOf?: (jobId: string) => Promise<string | null>;
}

/**
 * Returns the functions that format the records of result files, and restore them, in this process.
 */
const filesOf = (context: Program['context']) => ({
  exportFile: ((path, options) => exportFile(context, path, options)) satisfies ExportFile,
  restoreFile: ((path) => restoreFile(context, path)) satisfies RestoreFile,
  accountOf: async (jobId: string) => (await context.store.jobs.get(jobId))?.userId ?? null,
});

/** Creates the edge of a core in another process. */
function remoteEdge(
  coreUrl: string,
  { links, admissions, log }: Program,
  stopping: AbortSignal,
): Edge {
  const core = createRemoteCore(coreUrl, { services, admissions, stopping });
  return {
    caller: createCoreClient(core),
    routes: routeCore(core, log),
    exportFile: createRemoteExport(core, (path) => links.link(path)),
    restoreFile: createRemoteRestore(core, (path) => links.link(path)),
  };
}

async function openGateway(
  { program, publicUrl, resources }: StartingService,
  edge: Edge,
  { budget, limits, requests }: PortOptions,
): Promise<RunningServer> {
  const { config, stack, links, images, log, clock } = program;
  // The HTTP client takes a tenth of the start and several megabytes.
  const pictures = onDemand(async () =>
    (await import('../outbound/image.ts')).createImageFetcher(config),
  );
  resources.defer(pictures.close);
  const conversions = createConversions();
  resources.defer(conversions.close);
  const app = createRestApi({
    services,
    caller: edge.caller,
    log,
    clock,
    publicUrl,
    version: packageVersion,
    files: stack.blobs,
    verifyLink: links.verify,
    images:
      images === null
        ? undefined
        : {
            verify: images.verify,
            fetch: async (url, signal) =>
              isSandboxPicture(url)
                ? drawSandboxPicture(url)
                : (await pictures()).fetch(url, signal),
          },
    exportFile: edge.exportFile,
    restoreFile: edge.restoreFile,
    accountOf: edge.accountOf,
    conversions,
    keyDirectory: createKeyDirectory(config, clock),
    mounts: [serveConsole({ publicUrl }), createRpcListener(edge.routes, budget)],
    retrieveCache: config.retrieveCache,
    corsOrigins: config.corsOrigins,
    budget,
    onRouted: nameRoute,
  });
  const traced = config.exportsTraces ? traceRequests(app) : app;
  const listener = requests?.measure(traced) ?? traced;
  const { host, httpPort: port } = config;
  const opened = startServer(listener, port, host, limits);
  const server = await listening(opened, { host, port, setting: 'GLEANER_HTTP_PORT' });
  resources.defer(() => server.close(graceMs));
  return server;
}
