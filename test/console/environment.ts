// @ts-expect-error: a plain script, which runs before there is a compiler.
import { buildConsole } from '../../deploy/console.mjs';
import { origins } from '../../sandbox/list.ts';
import { startOrigins } from '../../sandbox/server.ts';
import { type Api, apiOf } from '../support/api.ts';
import { createDeployment, type Deployment } from '../support/deployment.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** A service with the built console, on the fake marketplaces. */
export interface Stage {
  deployment: Deployment;
  api: Api;
  /** Where the console is. */
  url: string;
  /** Where webhooks go: the operators' do from the start. */
  receiver: Receiver;
  /** Address of the fake store of marketplace F. */
  store: string;
  stop(): Promise<void>;
}

/** How a stage is set. */
export interface StageOptions {
  /** Milliseconds before every answer of a marketplace. */
  latencyMs: number;
  /** What each origin bears; without it, as fast as it goes. */
  gentleness?: { concurrency: number; requests_per_second: number };
}

const noEngines = { settings: {}, mongo: null, nats: null, stop: async () => {} };

/** Builds the console where it is not, and starts a service on the embedded stack. */
export async function openStage({ latencyMs, gentleness }: StageOptions): Promise<Stage> {
  if (!buildConsole()) throw new Error('the console could not be built');
  const running = await startOrigins({ origins, latencyMs });
  const receiver = await startReceiver();
  const deployment = await createDeployment({
    stack: { distributed: false },
    engines: noEngines,
    origins: running,
    settings: {
      GLEANER_WEBHOOK_PRIVATE: 'on',
      GLEANER_OPERATOR_WEBHOOK_URL: receiver.url,
      GLEANER_OPERATOR_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    },
    ...(gentleness ? { gentleness } : {}),
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
    api: apiOf(deployment),
    url: `${deployment.url}/console`,
    receiver,
    store: running.address('mktf', ''),
    stop: async () => {
      await deployment.stop();
      await running.stop();
      await receiver.stop();
    },
  };
}
