import { useQuery } from '@connectrpc/connect-query';
import { Badge, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { PriceService } from '../../../gen/gleaner/price/v1/price_pb.ts';
import { marketComments } from '../../../gen/market-comments.ts';
import { type JobType, jobTypes, knownMarkets } from '../../../src/contract/job-types.ts';
import { kindText, marketTitle } from '../../../src/present/names.ts';
import { Page } from '../ui/layout/Page.tsx';
import { TextLink } from '../ui/TextLink.tsx';
import { InlineCode } from './InlineCode.tsx';

/** Returns the first sentence of the description of a job type in the contract. */
export function describeJobType({ method }: JobType): string {
  const text = marketComments[`${method.parent.typeName}.${method.name}`] ?? '';
  return text.replace(/ \(endpoint \d+\)/, '').split(/(?<=\.)\s/)[0]!;
}

export function JobTypesPage() {
  const { data } = useQuery(PriceService.method.getPriceList, {});
  const limited = new Set(
    data?.workingHours
      ? data.prices.filter((price) => price.inWorkingHours).map(({ market, kind }) => `${market} ${kind}`)
      : [],
  );
  return (
    <Page
      title="Submit a job"
      description="Choose a job type."
      actions={<TextLink to="/try">Try one product</TextLink>}
    >
      {knownMarkets.map((market) => (
        <Stack key={market} gap="sm" component="section">
          <Title order={2} size="h4">
            {marketTitle(market)}
          </Title>
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
            {jobTypes
              .filter((jobType) => jobType.market === market)
              .map((jobType) => (
                <Card
                  key={jobType.kind}
                  withBorder
                  radius="md"
                  component={Link}
                  to={`/submit/${market}/${jobType.kind}`}
                >
                  <Group justify="space-between" wrap="nowrap" gap="xs">
                    <Text fw={600}>{kindText(jobType.kind)}</Text>
                    {limited.has(`${market} ${jobType.kind}`) && (
                      <Badge color="gray">{data?.workingHours}</Badge>
                    )}
                  </Group>
                  <Text size="sm" c="dimmed">
                    <InlineCode text={describeJobType(jobType)} />
                  </Text>
                </Card>
              ))}
          </SimpleGrid>
        </Stack>
      ))}
    </Page>
  );
}
