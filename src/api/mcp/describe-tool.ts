import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { comments } from '../../../gen/comments.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { job as jobOption, Step } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { takesSubmitOptions } from '../../contract/submit-options.ts';
import { canWait } from '../../contract/wait.ts';

const submitAdvice =
  'Creates a job that is charged per unit; failed units are refunded. With validate_only=true, it returns the quote instead. Wait for the job with get_job. Repeat a call whose result you did not get with the same idempotency_key.';
const waitAdvice = 'With wait_seconds, waits for the end of the job.';

const recordsAdvice =
  'Each record has its title, price, stock, rating, and address in item. Its record can be large: column selects fields of it, which list_fields names, and column ["unit_key"] leaves them out.';

/**
 * Parts of comments about other interfaces: numbers of endpoints, and sentences about headers, paths, and
 * statuses.
 */
const foreign = / \(endpoint \d+\)| [^.]*(?:`Idempotency-Key`|without \/v1|Returns 502)[^.]*\./g;

/**
 * Returns the description of a method's tool, for a model that knows nothing of the service but its tools.
 */
export function describeTool(method: DescMethod): string {
  const about = comments[`${method.parent.typeName}.${method.name}`] ?? method.name;
  const isSubmit = getOption(method, jobOption).step === Step.SUBMIT;
  const parts = [
    // Such as "Jobs on Tokopedia."
    isSubmit ? comments[method.parent.typeName] : undefined,
    about,
    takesSubmitOptions(method) ? submitAdvice : undefined,
    canWait(method) ? waitAdvice : undefined,
    method === JobService.method.listRecords ? recordsAdvice : undefined,
  ];
  return parts.flatMap((part) => (part === undefined ? [] : [part.replace(foreign, '')])).join(' ');
}
