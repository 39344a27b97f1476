import type { Config } from '../base/config.ts';
import { audit } from '../jobs/audit.ts';
import { openStore } from './stack.ts';

/** Runs the audit on the store, also beside a running service; gives the exit code: 1 where something disagrees. */
export async function runAudit(config: Config, json: boolean, say: (line: string) => void): Promise<number> {
  const store = await openStore(config);
  try {
    const result = await audit(store);
    if (json) say(JSON.stringify(result));
    else {
      for (const problem of result.problems) say(`DISAGREES  ${problem}`);
      const verdict =
        result.problems.length === 0 ? 'everything adds up' : `${result.problems.length} disagreements`;
      say(`${result.accounts} accounts, ${result.entries} ledger entries, ${result.jobs} jobs: ${verdict}`);
    }
    return result.problems.length === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}
