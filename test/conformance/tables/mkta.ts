import type { Marketplace } from '../table.ts';
import * as getPc from './get-pc.ts';
import * as pgnt from './pgnt.ts';
import * as variantSold from './variant-sold.ts';

/** Marketplace A: 15 endpoints. */
export const mkta: Marketplace = {
  name: 'mkta',
  jobs: { ...variantSold.jobs, ...getPc.jobs, ...pgnt.jobs },
  endpoints: [...variantSold.endpoints, ...getPc.endpoints, ...pgnt.endpoints],
};
