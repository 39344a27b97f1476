import type { DescService } from '@bufbuild/protobuf';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';

/** Every service of the core, in the order of the documentation. A new market is a line here. */
export const services: readonly DescService[] = [MktaService, AccountService, OperatorService];
