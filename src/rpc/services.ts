import type { DescService } from '@bufbuild/protobuf';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { MktbService } from '../../gen/gleaner/mktb/v1/mktb_pb.ts';
import { MktcService } from '../../gen/gleaner/mktc/v1/mktc_pb.ts';
import { MktdService } from '../../gen/gleaner/mktd/v1/mktd_pb.ts';
import { MkteService } from '../../gen/gleaner/mkte/v1/mkte_pb.ts';
import { MktfService } from '../../gen/gleaner/mktf/v1/mktf_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';

/** Services of the marketplaces. A new market is a line here. */
const marketServices: readonly DescService[] = [
  MktaService,
  MktbService,
  MktcService,
  MktdService,
  MkteService,
  MktfService,
];

/** Every service of the core, in the order of the documentation. */
export const services: readonly DescService[] = [
  ...marketServices,
  JobService,
  AccountService,
  OperatorService,
];
