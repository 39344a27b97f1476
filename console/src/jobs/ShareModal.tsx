import { useQuery } from '@connectrpc/connect-query';
import { List, Modal, Stack, Text } from '@mantine/core';
import { type Job, JobService, type ResultFile } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { CodeBlock } from '../ui/CodeBlock.tsx';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Loading } from '../ui/layout/Loading.tsx';
import { basePath } from '../ui/session/base-path.ts';
import { TextLink } from '../ui/TextLink.tsx';

/** Dialog with the ways in which another person can see the results of a job. */
export function ShareModal({ job: { jobId }, close }: { job: Job; close: () => void }) {
  const { data, error, refetch } = useQuery(JobService.method.listFiles, { jobId });
  return (
    <Modal opened onClose={close} title="Share results" size="lg">
      {error ? <ErrorAlert error={error} retry={refetch} /> : null}
      {!data && !error && <Loading />}
      {data && (
        <Stack>
          {data.files.filter(isOpenFile).map((file) => (
            <FileLink key={file.name} file={file} />
          ))}
          <Text size="sm" fw={500}>
            For a colleague who opens this page
          </Text>
          <List size="sm">
            <List.Item>
              Create <TextLink to="/keys">an API key</TextLink> that can only read. It reads all
              jobs of your account.
            </List.Item>
            <List.Item>Your colleague signs in with it, and opens the link to this page:</List.Item>
          </List>
          <CodeBlock label="Link to this page" text={pageLink(jobId)} />
        </Stack>
      )}
    </Modal>
  );
}

/** Returns true for the file of a whole job whose link needs no key. */
const isOpenFile = ({ scope, recordsUrl }: ResultFile): boolean =>
  scope === 'job' && recordsUrl !== '' && !new URL(recordsUrl).searchParams.has('user');

const pageLink = (jobId: string) => `${location.origin}${basePath}/console/jobs/${jobId}`;

function FileLink({ file: { recordsUrl } }: { file: ResultFile }) {
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        For anyone
      </Text>
      <Text size="sm">
        Everyone who has this link can download the records as CSV for Excel for 7 days, without a
        key.
      </Text>
      <CodeBlock label="Link to the records" text={`${recordsUrl}&format=csv-bom`} />
    </Stack>
  );
}
