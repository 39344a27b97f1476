import { getOption } from '@bufbuild/protobuf';
import { market as marketOption } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { marketServices } from '../../../gen/services.ts';
import type { Marketplace } from '../table.ts';
import { account } from './account.ts';
import { derivedTable } from './derived.ts';
import { destinations } from './destinations.ts';
import { health } from './health.ts';
import { histories } from './history.ts';
import { jobs } from './jobs.ts';
import { mkta } from './mkta.ts';
import { mktb } from './mktb.ts';
import { mktc } from './mktc.ts';
import { mktd } from './mktd.ts';
import { mkte } from './mkte.ts';
import { mktf } from './mktf.ts';
import { prices } from './prices.ts';
import { schedules } from './schedules.ts';
import { schemas } from './schemas.ts';
import { sites } from './sites.ts';
import { webhooks } from './webhooks.ts';

const written = [mkta, mktb, mktc, mktd, mkte, mktf, sites];

/** Every table: the written ones, and derived ones for further marketplaces. */
export const tables: readonly Marketplace[] = [
  ...written,
  ...marketServices
    .filter((service) => written.every(({ name }) => name !== getOption(service, marketOption)))
    .map(derivedTable),
  jobs,
  schedules,
  schemas,
  account,
  prices,
  webhooks,
  histories,
  destinations,
  health,
];
