import { modeOf } from '../access/test-account.ts';
import type { JobContext } from '../jobs/context.ts';
import type { Mode } from '../store/documents.ts';

/** Returns the mode of the jobs of a schedule's owner. */
export async function ownerMode({ store }: JobContext, userId: string): Promise<Mode> {
  const user = await store.users.get(userId);
  return user === null ? 'live' : modeOf(user);
}
