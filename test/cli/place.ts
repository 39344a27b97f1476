import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { origins } from '../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { createApi, type TestApi } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';

/** A service on fake marketplaces, and a folder for its user. */
export interface Place {
  deployment: Deployment;
  api: TestApi;
  origins: RunningOrigins;
  folder: string;
  close(): Promise<void>;
}

/** Starts the service on the embedded stack; `settings` override those of the test. */
export async function openPlace(settings: Record<string, string> = {}): Promise<Place> {
  const running = await startOrigins({ origins });
  const deployment = await createDeployment({
    stack: { distributed: false },
    engines: { settings: {}, mongo: null, nats: null, stop: async () => {} },
    origins: running,
    settings,
  });
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-cli-'));
  const close = async () => {
    await deployment.stop();
    await running.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await deployment.start();
  } catch (error) {
    await close();
    throw error;
  }
  return { deployment, api: createApi(deployment), origins: running, folder, close };
}
