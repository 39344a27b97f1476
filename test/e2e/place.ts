import type { TestApi } from '../support/api.ts';
import type { Deployment } from '../support/deployment.ts';

/** The deployment of a suite and its client, available once the processes have started. */
export interface Place {
  deployment: Deployment;
  api: TestApi;
}
