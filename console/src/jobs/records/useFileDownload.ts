import { createClient } from '@connectrpc/connect';
import type { ResultFile } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { downloadLink } from '../../ui/session/download.ts';
import { useSession } from '../../ui/session/session.ts';
import { transport } from '../../ui/session/transport.ts';
import { useDownload } from '../../ui/session/useDownload.ts';

/** Returns a function that downloads a result file of a job, and whether a download is running. */
export function useFileDownload(jobId: string) {
  const { role } = useSession();
  const { download, busy } = useDownload();
  const save = async (file: ResultFile) => {
    // The service logs each link that an operator creates.
    const link =
      role === 'operator'
        ? (await createClient(OperatorService, transport).createFileLink({ jobId, name: file.name })).file
        : file;
    await downloadLink(link?.downloadUrl ?? '', file.name);
  };
  return { download: (file: ResultFile) => void download(() => save(file)), busy };
}
