import { IconDownload } from '@tabler/icons-react';
import { CallButton, type CallButtonProps } from '../permission/CallButton.tsx';
import { useDownload } from '../session/download.ts';

interface DownloadButtonProps extends CallButtonProps {
  save: () => Promise<void>;
}

/** Button that downloads a file of a call. */
export function DownloadButton({ save, ...props }: DownloadButtonProps) {
  const { download, busy } = useDownload();
  return (
    <CallButton
      variant="default"
      icon={IconDownload}
      {...props}
      loading={busy}
      onClick={() => void download(save)}
    />
  );
}
