import { createClient } from '@connectrpc/connect';
import type { ResultFile } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { downloadLink, useDownload } from '../../ui/session/download.ts';
import { useSession } from '../../ui/session/session.ts';
import { transport } from '../../ui/session/transport.ts';

/** Returns a function that downloads a result file of a job, and whether a download is running. */
export function useFileDownload(jobId: string) {
  const { role } = useSession();
  const { download, busy } = useDownload();
  const save = async (file: ResultFile) => {
    const link = role === 'operator' ? await createLink(jobId, file.name) : file;
    await downloadLink(link?.downloadUrl ?? '', file.name);
  };
  return { download: (file: ResultFile) => void download(() => save(file)), busy };
}

/** Creates a link of an operator, which the service logs. */
async function createLink(jobId: string, name: string): Promise<ResultFile | undefined> {
  const { OperatorService } = await import('../../../../gen/gleaner/operator/v1/operator_pb.ts');
  return (await createClient(OperatorService, transport).createFileLink({ jobId, name })).file;
}
