import { Alert, Code, Group, List, Stack, Text } from '@mantine/core';
import { IconFilterExclamation } from '@tabler/icons-react';
import { type HoldReason, type JobHold, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { formatPercentage } from '../../../src/present/text.ts';
import { ActionButton, ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { useSession } from '../ui/session/session.ts';
import { Moment } from '../ui/time/Moment.tsx';

const titles: Readonly<Record<string, string>> = {
  held: 'Deliveries held',
  released: 'Deliveries released',
  discarded: 'Deliveries discarded',
};

/** Shows why the deliveries of a job are or were held, and lets its owner decide. */
export function Hold({
  jobId,
  hold: { state, reasons, decidedAt },
}: {
  jobId: string;
  hold: JobHold;
}) {
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
      <Code style={{ overflowWrap: 'anywhere' }}>{field}</Code>: {formatPercentage(percent)},
      minimum {formatPercentage(minimum)}
    </>
  );
}

/** Buttons that release or discard the deliveries. */
function Decision({ jobId }: { jobId: string }) {
  const call = JobService.method.releaseJob;
  return (
    <Group gap="xs">
      <ActionButton
        call={call}
        request={{ jobId, discard: false }}
        done="Deliveries released."
        size="xs"
        variant="filled"
      >
        Release
      </ActionButton>
      <ConfirmButton
        call={call}
        request={{ jobId, discard: true }}
        question={{
          title: 'Discard the deliveries?',
          text: 'The results are never delivered to your destinations. You can still download them.',
          confirm: 'Discard deliveries',
        }}
        done="Deliveries discarded."
        size="xs"
      >
        Discard
      </ConfirmButton>
    </Group>
  );
}
