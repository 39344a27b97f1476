import type { DescService } from '@bufbuild/protobuf';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { DestinationService } from '../../gen/gleaner/destination/v1/destination_pb.ts';
import { HistoryService } from '../../gen/gleaner/history/v1/history_pb.ts';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { PriceService } from '../../gen/gleaner/price/v1/price_pb.ts';
import { ScheduleService } from '../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { SchemaService } from '../../gen/gleaner/schema/v1/schema_pb.ts';
import { SessionService } from '../../gen/gleaner/session/v1/session_pb.ts';
import { marketServices } from '../../gen/services.ts';

export { marketServices };

/** Every service of the contract, in the order of the documentation. */
export const services: readonly DescService[] = [
  ...marketServices,
  JobService,
  SchemaService,
  ScheduleService,
  HistoryService,
  AccountService,
  DestinationService,
  PriceService,
  OperatorService,
  SessionService,
];
