import type { TestApi } from '../support/service/api.ts';
import type { Deployment } from '../support/service/deployment.ts';

/** The deployment of a suite and its client, available once the processes have started. */
export interface Place {
  deployment: Deployment;
  api: TestApi;
}
