import { createClient } from '@connectrpc/connect';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { showError } from '../errors/toast.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { saveBlob } from '../session/download.ts';
import { transport } from '../session/transport.ts';

/** Button that downloads everything that is stored of a user. */
export function ExportButton({ userId }: { userId: string }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const parts: BlobPart[] = [];
      for await (const { data } of createClient(OperatorService, transport).exportUser({ userId }))
        parts.push(data as Uint8Array<ArrayBuffer>);
      saveBlob(new Blob(parts, { type: 'application/x-ndjson' }), `user-${userId}.jsonl`);
    } catch (error) {
      showError(error);
    } finally {
      setBusy(false);
    }
  };
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
