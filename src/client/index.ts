/**
 * A typed client of the REST interface. Paths, verbs, path variables, forms and streams follow from the
 * contract's descriptors, types are the generated ones. Runs in Node and, but for saving files, in browsers.
 */
export { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
export { type Job, JobService, type ResultFile } from '../../gen/gleaner/job/v1/job_pb.ts';
export { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
export { MktbService } from '../../gen/gleaner/mktb/v1/mktb_pb.ts';
export { MktcService } from '../../gen/gleaner/mktc/v1/mktc_pb.ts';
export { MktdService } from '../../gen/gleaner/mktd/v1/mktd_pb.ts';
export { MkteService } from '../../gen/gleaner/mkte/v1/mkte_pb.ts';
export { MktfService } from '../../gen/gleaner/mktf/v1/mktf_pb.ts';
export { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
export {
  type CallOptions,
  type ClientOptions,
  createGleanerClient,
  type GleanerClient,
  type SubmitOptions,
  type Submitted,
} from './client.ts';
export type { Downloaded, DownloadOptions } from './download.ts';
export { type FieldProblem, GleanerError } from './error.ts';
export { fromRest, toRest } from './rest-json.ts';
export type { ByteStream } from './stream.ts';
export type { WaitOptions } from './wait.ts';
