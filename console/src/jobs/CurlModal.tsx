import { Button, Code, Modal, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { findJobType } from '../../../src/contract/job-types.ts';
import { CodeBlock } from '../ui/CodeBlock.tsx';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Loading } from '../ui/layout/Loading.tsx';
import { curlText, requestFile } from '../ui/request/curl.ts';
import { useDraft } from '../ui/request/useDraft.ts';
import { basePath } from '../ui/session/base-path.ts';
import { saveBlob } from '../ui/session/download.ts';

/** Dialog with the curl command that submits a job again. */
export function CurlModal({ job, close }: { job: Job; close: () => void }) {
  const { draft, error, refetch } = useDraft({ jobId: job.jobId });
  const jobType = findJobType(job);
  return (
    <Modal opened onClose={close} title="Copy as curl" size="lg">
      {error ? <ErrorAlert error={error} retry={refetch} /> : null}
      {!draft && !error && <Loading />}
      {draft && jobType && (
        <Command
          text={curlText(location.origin + basePath, jobType, draft)}
          file={requestFile(jobType, draft)}
        />
      )}
    </Modal>
  );
}

/** Command, and the file that it reads. */
function Command({ text, file }: { text: string; file: File | null }) {
  return (
    <Stack>
      <Text size="sm">
        Submits the job again. Set <Code>KEY</Code> to an API key first.
      </Text>
      <CodeBlock label="Command" text={text}>
        {file && (
          <Button
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
            onClick={() => saveBlob(file, file.name)}
          >
            Download {file.name}
          </Button>
        )}
      </CodeBlock>
    </Stack>
  );
}
