import type { Command } from 'commander';
import { type Job, JobSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand } from './command.ts';
import { errorLines, exitCodeOf } from './exit.ts';
import type { Session } from './session.ts';

const { approveJob, rejectJob } = OperatorService.method;

/** Adds `approve` and `reject`. */
export function addApprovalCommands(program: Command): void {
  addCommand(program, {
    usage: 'approve <job...>',
    about: 'Approve jobs',
    run: (session, _options, ids: string[]) => {
      const operator = session.operator();
      return decide(
        session,
        ids,
        async (jobId) => (await operator.call(approveJob, { jobId }, { signal: session.signal })).job!,
      );
    },
  });
  addCommand<{ reason?: string }>(program, {
    usage: 'reject <job...>',
    about: 'Reject jobs and refund their credits',
    options: [['--reason <text>', 'reason to show to the user']],
    run: (session, { reason = '' }, ids: string[]) => {
      const operator = session.operator();
      return decide(
        session,
        ids,
        async (jobId) => (await operator.call(rejectJob, { jobId, reason }, { signal: session.signal })).job!,
      );
    },
  });
}

/** Decides on jobs one after another, and continues after errors. Returns the exit code of the last error. */
async function decide(
  session: Session,
  ids: readonly string[],
  decideOne: (jobId: string) => Promise<Job>,
): Promise<number> {
  let code = 0;
  for (const id of ids) {
    try {
      const job = await decideOne(id);
      await session.show(JobSchema, job, () => `${job.jobId} ${job.status}\n`);
    } catch (error) {
      session.signal.throwIfAborted();
      if (ids.length === 1) throw error;
      for (const line of errorLines(error)) session.note(`${line} (${id})`);
      code = exitCodeOf(error);
    }
  }
  return code;
}
