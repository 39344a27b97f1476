import { create, type DescMethodUnary, type Message } from '@bufbuild/protobuf';
import type { Command } from 'commander';
import type { GleanerClient } from '../../../clients/typescript/index.ts';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import type { ToolCaller } from '../../api/mcp/call-tool.ts';
import { packageVersion } from '../../base/package-folder.ts';
import { takesSubmitOptions } from '../../contract/submit-options.ts';
import { addCommand, integer } from './command.ts';

export function addMcpCommand(program: Command): void {
  addCommand<{ budget?: string }>(program, {
    usage: 'mcp',
    about: 'Serve tools for agents over standard input and output (Model Context Protocol)',
    options: [
      ['--budget <credits>', 'maximum credits that all jobs of the session may cost together'],
    ],
    async run(session, { budget }) {
      const max = budget === undefined ? null : integer('--budget', budget, 0);
      const [
        { serveStdio, StdioServerTransport },
        { createMcpServer },
        { sessionBudget, unlimitedBudget },
      ] = await Promise.all([
        import('@modelcontextprotocol/server/stdio'),
        import('../../api/mcp/server.ts'),
        import('../../api/mcp/budget.ts'),
      ]);
      const caller = toolCaller(session.client);
      // One budget for the process, whatever instances the protocol needs.
      const credits = max === null ? unlimitedBudget : sessionBudget(max);
      const { stdin, stdout } = session.io;
      const server = serveStdio(
        ({ era }) =>
          createMcpServer({
            caller,
            budget: credits,
            version: packageVersion,
            era,
            now: Date.now,
          }),
        { transport: new StdioServerTransport(stdin, stdout) },
      );
      await new Promise<void>((resolve) => {
        stdin.once('end', resolve).once('close', resolve);
        session.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await server.close();
    },
  });
}

const noOptions = create(SubmitOptionsSchema);

/** Calls the service with a client. */
function toolCaller(client: GleanerClient): ToolCaller {
  return {
    async call(method, request, { submitOptions, idempotencyKey, waitMs, signal, onProgress }) {
      const unary = method as DescMethodUnary;
      if (takesSubmitOptions(method)) {
        const { $typeName: _, $unknown: __, validateOnly, ...options } = submitOptions ?? noOptions;
        if (validateOnly) {
          const quote = await client.quote(unary, request, { ...options, signal });
          return create(method.output, { quote } as never);
        }
        const key = idempotencyKey === undefined ? {} : { idempotencyKey };
        return (await client.submit(unary, request, { ...options, ...key, signal })).response;
      }
      const jobId = (request as Message & { jobId?: string }).jobId;
      if (waitMs > 0 && jobId !== undefined)
        await waitUntil(client, jobId, waitMs, signal, onProgress);
      return client.call(unary, request, { signal });
    },
    async *results(jobId, signal) {
      const method = JobService.method.streamResults;
      yield* await client.stream(method, create(method.input, { jobId }), { signal });
    },
    costOf: async (jobId, signal) => (await client.find(jobId, { signal })).cost,
  };
}

/** Waits for the end of a job, at most `waitMs`. */
async function waitUntil(
  client: GleanerClient,
  jobId: string,
  waitMs: number,
  signal: AbortSignal,
  onProgress: ((job: Job) => void) | undefined,
): Promise<void> {
  const timeout = AbortSignal.timeout(waitMs);
  try {
    await client.wait(jobId, {
      signal: AbortSignal.any([signal, timeout]),
      onProgress,
    });
  } catch (error) {
    if (!timeout.aborted) throw error;
  }
}
