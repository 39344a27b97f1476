import type { TestApi } from '../support/api.ts';
import type { Deployment } from '../support/deployment.ts';

/** Where the cases run: real processes, and the calls to them. Known once they have started. */
export interface Place {
  deployment: Deployment;
  api: TestApi;
}
