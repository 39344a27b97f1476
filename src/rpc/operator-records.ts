import type { DescMethod, Message } from '@bufbuild/protobuf';
import type { ExportRecordsRequest, JobRequest } from '../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { fullName } from '../jobs/offers.ts';
import { type ResultsContext, results } from '../jobs/queries/results.ts';
import type { Job } from '../store/documents.ts';
import { type RecordContext, runAudited } from './audit-log.ts';
import { type Call, type Handlers, handle, type StreamHandler } from './handlers.ts';
import { anyJob } from './job-search.ts';
import { streamText } from './job-stream.ts';
import type { RecordReads } from './record-reads.ts';

/** Dependencies of this module. */
export type OperatorRecordsContext = Pick<JobContext, 'log'> &
  StoreUse<'getJob'> &
  RecordContext &
  ResultsContext;

/**
 * Returns the handlers by which operators read the records of any job. Each access to contents is logged with the operator,
 * the job and its owner, and recorded in the audit log.
 */
export function operatorRecordHandlers(context: OperatorRecordsContext, records: RecordReads): Handlers {
  const { store, log } = context;
  const { method } = OperatorService;
  const logRead = ({ id, userId }: Job, { principal }: Call) =>
    log.info({ operatorId: principal.userId, jobId: id, userId }, 'results read by operator');
  const stream = (
    streamed: DescMethod,
    read: (request: Message, job: Job, call: Call) => AsyncIterable<Message>,
  ): [string, StreamHandler] => [
    fullName(streamed),
    async function* (request, call) {
      const job = await anyJob(store, request as JobRequest);
      // The core records unary calls only.
      await runAudited(context, streamed, request, call, async () => request);
      logRead(job, call);
      yield* read(request, job, call);
    },
  ];
  const unary = new Map([
    handle(method.listFields, async (request) => records.listFields(await anyJob(store, request))),
    handle(method.listRecords, async (request, call) => {
      const job = await anyJob(store, request);
      const page = await records.listRecords(request, job);
      logRead(job, call);
      return page;
    }),
  ]);
  return {
    unary,
    stream: new Map([
      stream(method.streamResults, (_request, job) =>
        streamText('application/x-ndjson', results(context, job)),
      ),
      stream(method.exportRecords, (request, job, { responseHeaders }) =>
        records.exportRecords(request as ExportRecordsRequest, job, responseHeaders),
      ),
    ]),
  };
}
