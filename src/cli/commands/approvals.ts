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
    about: 'start waiting jobs, as an operator',
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
    about: 'end waiting jobs, as an operator; credits that were taken are given back',
    options: [['--reason <text>', 'shown to the user']],
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

/** Decides on one after the other; one that cannot be decided on does not keep the others from it. */
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
