import type { TestUser } from '../support/service/api.ts';
import { until } from '../support/time/until.ts';
import type { ConsoleEnvironment } from './environment.ts';

/** Body of a submission of variants. */
export interface VariantRequest {
  country: string;
  items: { item_id: string; shop_id: string }[];
}

/** Submits variants, approves the job, and waits until it ends. Returns its id. */
export async function runVariants(
  { api }: ConsoleEnvironment,
  user: TestUser,
  request: VariantRequest,
  query = '',
): Promise<string> {
  const { status, body } = await api.post(user, `/v1/mkta/variant_sold_v1/submit${query}`, request);
  if (status !== 202) throw new Error(`variant_sold: ${status} ${JSON.stringify(body)}`);
  const jobId: string = body.job_id;
  await api.operator('ApproveJob', { job_id: jobId });
  await until(
    'the job ends',
    async () => (await api.operatorJobs('GetJob', { job_id: jobId })).ended || undefined,
    { withinMs: 30_000, everyMs: 100 },
  );
  return jobId;
}
