/**
 * Typed client of the service. Methods and types come from the contract. Runs in Node and, except
 * for saving files, in browsers.
 */
export { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
export { DestinationService } from '../../gen/gleaner/destination/v1/destination_pb.ts';
export {
  HistoryService,
  type ItemChange,
  type Rule,
} from '../../gen/gleaner/history/v1/history_pb.ts';
export { type Job, JobService, type ResultFile } from '../../gen/gleaner/job/v1/job_pb.ts';
export type { Quote } from '../../gen/gleaner/job/v1/quote_pb.ts';
export { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
export { PriceService } from '../../gen/gleaner/price/v1/price_pb.ts';
export { type Schedule, ScheduleService } from '../../gen/gleaner/schedule/v1/schedule_pb.ts';
export { SchemaService } from '../../gen/gleaner/schema/v1/schema_pb.ts';
export * from '../../gen/services.ts';
export type { CallOptions, UnaryOptions } from './call-options.ts';
export {
  type ClientOptions,
  createGleanerClient,
  type GleanerClient,
  type SubmitOptions,
  type Submitted,
} from './client.ts';
export type { Downloaded, DownloadOptions } from './download.ts';
export { type FieldProblem, GleanerError } from './error.ts';
export type { ByteStream } from './stream.ts';
export type { WaitOptions } from './wait.ts';
