import { origins } from '../../sandbox/list.ts';
import { startOrigins } from '../../sandbox/server.ts';
import { type Engines, embedded } from '../support/engines/engines.ts';
import { createApi } from '../support/service/api.ts';
import { createDeployment } from '../support/service/deployment.ts';
import type { Variables } from './example.ts';

/** A service on fake marketplaces, and the variables of a reader of the documentation. */
export interface Place {
  /** Variables of a user with credits: `$URL`, `$GRPC_URL`, `$KEY`, `$OPERATOR_KEY`, `$STORE`. */
  variables(): Promise<Variables>;
  stop(): Promise<void>;
}

/** Starts the service that the examples of the documentation run against. */
export async function startPlace(): Promise<Place> {
  const sites = await startOrigins({ origins, misbehaviour: 'none' });
  const deployment = await createDeployment({
    stack: embedded,
    engines: (await embedded.open()) as Engines,
    origins: sites,
    settings: { GLEANER_RETRIEVE_CACHE: 'off', GLEANER_PRIVATE: 'on' },
  });
  await deployment.start();
  return {
    async variables() {
      const user = await createApi(deployment).createUser(10_000);
      return {
        URL: deployment.url,
        KEY: user.key,
        GRPC_URL: deployment.grpc,
        OPERATOR_KEY: deployment.operatorKey,
        STORE: sites.address('mktf', ''),
      };
    },
    async stop() {
      await deployment.stop();
      await sites.stop();
    },
  };
}
