import { useQuery } from '@connectrpc/connect-query';
import { Badge, Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { IconFlask } from '@tabler/icons-react';
import { Link } from 'react-router';
import { PriceService } from '../../../gen/gleaner/price/v1/price_pb.ts';
import { marketComments } from '../../../gen/market-comments.ts';
import { type JobType, jobTypes, knownMarkets } from '../../../src/contract/job-types.ts';
import { kindText, marketTitle, purposeOf, purposes } from '../../../src/present/names.ts';
import { counted } from '../../../src/present/text.ts';
import { describeHours } from '../../../src/present/time.ts';
import { exampleBody } from '../ui/examples/examples.ts';
import { type Examples, useExamples } from '../ui/examples/useExamples.ts';
import { InlineCode } from '../ui/layout/InlineCode.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { useSession } from '../ui/session/session.ts';
import { TextLink } from '../ui/TextLink.tsx';
import classes from './job-types.module.css';

/** Returns the first sentence of the description of a job type in the contract. */
export function describeJobType({ method }: JobType): string {
  const text = marketComments[`${method.parent.typeName}.${method.name}`] ?? '';
  return text.replace(/ \(endpoint \d+\)/, '').split(/(?<=\.)\s/)[0]!;
}

/** What can be collected, by purpose, with the price and an example on test data. */
export function JobTypesPage() {
  const examples = useExamples();
  return (
    <Page
      title="Submit a job"
      description="Choose what to collect."
      actions={<TextLink to="/try">Try one product</TextLink>}
    >
      {purposes.map((purpose) => (
        <Stack key={purpose} gap="sm" component="section" aria-label={purpose}>
          <Title order={2} size="h4">
            {purpose}
          </Title>
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
            {jobTypes
              .filter(({ kind }) => purposeOf(kind) === purpose)
              .map((jobType) => (
                <JobTypeCard
                  key={`${jobType.market} ${jobType.kind}`}
                  jobType={jobType}
                  examples={examples}
                />
              ))}
          </SimpleGrid>
        </Stack>
      ))}
    </Page>
  );
}

interface JobTypeCardProps {
  jobType: JobType;
  examples: Examples | null;
}

/** Link to the form of a job type, with its price and its example. */
function JobTypeCard({ jobType, examples }: JobTypeCardProps) {
  const { market, kind } = jobType;
  return (
    <Card withBorder radius="md" p={0}>
      <Link className={`mantine-focus-auto ${classes.link}`} to={`/submit/${market}/${kind}`}>
        <Monogram market={market} />
        <div>
          <Text fw={600}>{marketTitle(market)}</Text>
          <Text size="xs" c="dimmed">
            {kindText(kind)}
          </Text>
          <Text size="sm" mt={4}>
            <InlineCode text={describeJobType(jobType)} />
          </Text>
        </div>
      </Link>
      <Group px="md" pb="sm" gap="xs" mih={34}>
        <Terms jobType={jobType} />
        {examples && exampleBody(jobType) !== null && (
          <Button
            size="compact-sm"
            variant="default"
            ml="auto"
            leftSection={<IconFlask size={14} aria-hidden />}
            aria-label={`Run an example of ${kindText(kind)} on ${marketTitle(market)}`}
            loading={examples.started === `${market}/${kind}`}
            onClick={() => examples.run(jobType)}
          >
            Run an example
          </Button>
        )}
      </Group>
    </Card>
  );
}

/** What a unit costs, and what delays a job, once the prices are loaded. */
function Terms({ jobType: { market, kind } }: { jobType: JobType }) {
  const { isTest } = useSession();
  const { data } = useQuery(PriceService.method.getPriceList, {});
  const price = data?.prices.find((each) => each.market === market && each.kind === kind);
  if (!price) return null;
  const text = isTest ? 'Free on test data' : `${counted(price.unitPrice, 'credit')} per unit`;
  return (
    <>
      <Text size="sm" fw={500}>
        {text}
      </Text>
      {price.needsApproval && !isTest && <Badge color="yellow">Needs approval</Badge>}
      {price.inWorkingHours && !isTest && data!.workingHours !== '' && (
        <Badge color="gray">{describeHours(data!.workingHours)}</Badge>
      )}
    </>
  );
}

/** Colours of monograms, in the order of the marketplaces. */
const colors = ['orange', 'green', 'blue', 'grape', 'yellow', 'lime', 'cyan'];

/** Monogram of a marketplace: its first two letters. Decorative; its name is beside it. */
function Monogram({ market }: { market: string }) {
  const color = colors[knownMarkets.indexOf(market) % colors.length] ?? 'gray';
  return (
    <svg width={36} height={36} viewBox="0 0 36 36" aria-hidden style={{ flexShrink: 0 }}>
      <rect width={36} height={36} rx={9} fill={`var(--mantine-color-${color}-light)`} />
      <text
        x={18}
        y={23.5}
        textAnchor="middle"
        fontSize={15}
        fontWeight={650}
        fill="var(--mantine-color-text)"
      >
        {marketTitle(market).slice(0, 2)}
      </text>
    </svg>
  );
}
