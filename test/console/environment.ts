// @ts-expect-error: a plain script without type declarations.
import { buildConsole } from '../../deploy/console.mjs';
import { origins } from '../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { createApi, type TestApi } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** Service with the built console and fake marketplaces. */
export interface ConsoleEnvironment {
  deployment: Deployment;
  api: TestApi;
  /** URL of the console. */
  url: string;
  /** Receiver of webhooks and files; the operators' webhook is set to it. */
  receiver: Receiver;
  /** Fake marketplaces. */
  marketplaces: RunningOrigins;
  /** Address of the fake store of marketplace F. */
  store: string;
  stop(): Promise<void>;
}

/** Options for startConsoleEnvironment(). */
export interface ConsoleEnvironmentOptions {
  /** Latency of each response of a fake marketplace, in milliseconds. */
  latencyMs: number;
  /** Marketplace and region without an origin. */
  withoutOrigin?: [market: string, region: string];
  /** Limits per origin; unlimited by default. */
  limits?: { concurrency: number; requests_per_second: number };
  /** True to show the pictures of records; by default no host of pictures is requested. */
  showsPictures?: boolean;
}

const noEngines = { settings: {}, mongo: null, nats: null, stop: async () => {} };

let shared: Promise<ConsoleEnvironment> | undefined;

/**
 * Returns the console that the test files of a process share, without an origin for marketplace A
 * in region br. It ends with the process. Tests create their own users, and find their data among
 * other tests' data.
 */
export function sharedConsole(): Promise<ConsoleEnvironment> {
  shared ??= startConsoleEnvironment({ latencyMs: 5, withoutOrigin: ['mkta', 'br'] });
  return shared;
}

/** Builds the console if necessary and starts a service on the embedded stack. */
export async function startConsoleEnvironment({
  latencyMs,
  withoutOrigin,
  limits,
  showsPictures = false,
}: ConsoleEnvironmentOptions): Promise<ConsoleEnvironment> {
  if (!(await buildConsole())) throw new Error('the console could not be built');
  const running = await startOrigins({ origins, latencyMs });
  if (withoutOrigin) delete running.config[withoutOrigin[0]]?.[withoutOrigin[1]];
  const receiver = await startReceiver();
  const deployment = await createDeployment({
    stack: { distributed: false },
    engines: noEngines,
    origins: running,
    settings: {
      GLEANER_PRIVATE: 'on',
      GLEANER_IMAGES: showsPictures ? 'proxy' : 'off',
      GLEANER_OPERATOR_WEBHOOK_URL: receiver.url,
      GLEANER_OPERATOR_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    },
    ...(limits ? { originLimits: limits } : {}), // cspell:disable-line
  });
  try {
    await deployment.start();
  } catch (error) {
    await running.stop();
    await receiver.stop();
    throw error;
  }
  return {
    deployment,
    api: createApi(deployment),
    url: `${deployment.url}/console`,
    receiver,
    marketplaces: running,
    store: running.address('mktf', ''),
    stop: async () => {
      await deployment.stop();
      await running.stop();
      await receiver.stop();
    },
  };
}
