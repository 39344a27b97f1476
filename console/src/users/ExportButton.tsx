import { createClient } from '@connectrpc/connect';
import { IconDownload } from '@tabler/icons-react';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { saveStream } from '../session/download.ts';
import { transport } from '../session/transport.ts';
import { useDownload } from '../session/useDownload.ts';

/** Button that downloads everything that is stored of a user. */
export function ExportButton({ userId }: { userId: string }) {
  const { download, busy } = useDownload();
  const save = () =>
    download(() =>
      saveStream(createClient(OperatorService, transport).exportUser({ userId }), `user-${userId}.jsonl`),
    );
  return (
    <CallButton
      call={OperatorService.method.exportUser}
      variant="default"
      loading={busy}
      onClick={() => void save()}
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      Export data
    </CallButton>
  );
}
