import { useMutation } from '@connectrpc/connect-query';
import { Alert, Code, Group, List, Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { IconFilterExclamation } from '@tabler/icons-react';
import { type HoldReason, type JobHold, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { formatPercentage } from '../number/format.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { useSession } from '../session/session.ts';
import { Moment } from '../time/Moment.tsx';

const titles: Readonly<Record<string, string>> = {
  held: 'Deliveries held',
  released: 'Deliveries released',
  discarded: 'Deliveries discarded',
};

/** Shows why the deliveries of a job are or were held, and lets its owner decide. */
export function Hold({ jobId, hold: { state, reasons, decidedAt } }: { jobId: string; hold: JobHold }) {
  const { role } = useSession();
  const isHeld = state === 'held';
  return (
    <Alert
      color={isHeld ? 'yellow' : 'gray'}
      icon={<IconFilterExclamation />}
      title={titles[state] ?? titles.held}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">Some fields are filled in fewer records than the job requires:</Text>
        <List size="sm">
          {reasons.map((reason) => (
            <List.Item key={reason.field}>
              <Reason reason={reason} />
            </List.Item>
          ))}
        </List>
        {!isHeld && (
          <Text size="sm">
            Decided <Moment at={decidedAt} />
          </Text>
        )}
        {isHeld && role === 'operator' && <Text size="sm">The owner of the job decides.</Text>}
        {isHeld && role === 'user' && <Decision jobId={jobId} />}
      </Stack>
    </Alert>
  );
}

function Reason({ reason: { field, minimum, percent } }: { reason: HoldReason }) {
  return (
    <>
      <Code>{field}</Code>: {formatPercentage(percent)}, minimum {formatPercentage(minimum)}
    </>
  );
}

/** Buttons that release or discard the deliveries. */
function Decision({ jobId }: { jobId: string }) {
  const call = JobService.method.releaseJob;
  const release = useMutation(call);
  const attempt = useAttempt();
  const decide = (discard: boolean) =>
    attempt(
      release.mutateAsync({ jobId, discard }),
      discard ? 'Deliveries discarded.' : 'Deliveries released.',
    );
  const confirmDiscard = () =>
    modals.openConfirmModal({
      title: 'Discard the deliveries?',
      children: 'The results are never delivered to your destinations. You can still download them.',
      labels: { confirm: 'Discard deliveries', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => void decide(true),
    });
  return (
    <Group gap="xs">
      <CallButton call={call} size="xs" loading={release.isPending} onClick={() => decide(false)}>
        Release
      </CallButton>
      <CallButton
        call={call}
        size="xs"
        variant="default"
        disabled={release.isPending}
        onClick={confirmDiscard}
      >
        Discard
      </CallButton>
    </Group>
  );
}
