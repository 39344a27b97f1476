import type { Marketplace } from '../table.ts';
import { account } from './account.ts';
import { health } from './health.ts';
import { jobs } from './jobs.ts';
import { mkta } from './mkta.ts';
import { mktb } from './mktb.ts';
import { mktc } from './mktc.ts';
import { mktd } from './mktd.ts';
import { mkte } from './mkte.ts';
import { mktf } from './mktf.ts';
import { webhooks } from './webhooks.ts';

/** Every table. */
export const tables: readonly Marketplace[] = [
  mkta,
  mktb,
  mktc,
  mktd,
  mkte,
  mktf,
  jobs,
  account,
  webhooks,
  health,
];
