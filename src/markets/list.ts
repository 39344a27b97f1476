import type { Market } from './market.ts';
import { mkta } from './mkta/index.ts';
import { mktb } from './mktb/index.ts';
import { mktc } from './mktc/index.ts';
import { mktd } from './mktd/index.ts';
import { mkte } from './mkte/index.ts';
import { mktf } from './mktf/index.ts';

/** Every market that work can be submitted for: one line each. */
export const markets: readonly Market[] = [mkta, mktb, mktc, mktd, mkte, mktf];
