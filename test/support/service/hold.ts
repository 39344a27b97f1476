import type { TestApi, TestUser } from './api.ts';

/** Returns the rule of the option `hold` that an ended job breaks by most. */
export async function brokenRule(api: TestApi, user: TestUser, jobId: string): Promise<string> {
  const { fields } = (await api.get(user, `/v1/jobs/${jobId}/quality`)).body as {
    fields: { name: string; percent: number }[];
  };
  const field = fields.toSorted((one, other) => one.percent - other.percent)[0]!;
  if (field.percent === 100) throw new Error('every field of the job is filled');
  return `${field.name}:100`;
}
