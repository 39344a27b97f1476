import { Badge, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { comments } from '../../../gen/comments.ts';
import { Page } from '../layout/Page.tsx';
import { kindText, markets, marketText, type Offer, offers } from '../offers/offers.ts';
import { InlineCode } from './InlineCode.tsx';

/** Returns the description of an offer in the contract. */
export function describeOffer({ method }: Offer): string {
  const text = comments[`${method.parent.typeName}.${method.name}`] ?? '';
  return text.replace(/ \(endpoint \d+\)/, '');
}

/** Job types by marketplace. */
export function OffersPage() {
  return (
    <Page title="Submit a job" description="Choose a job type.">
      {markets.map((market) => (
        <Stack key={market} gap="sm" component="section">
          <Title order={2} size="h4">
            {marketText(market)}
          </Title>
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
            {offers
              .filter((offer) => offer.market === market)
              .map((offer) => (
                <Card
                  key={offer.kind}
                  withBorder
                  radius="md"
                  component={Link}
                  to={`/submit/${market}/${offer.kind}`}
                >
                  <Group justify="space-between" wrap="nowrap" gap="xs">
                    <Text fw={600}>{kindText(offer.kind)}</Text>
                    {offer.endpoint.workingHours && (
                      <Badge variant="light" color="gray" tt="none">
                        Working hours
                      </Badge>
                    )}
                  </Group>
                  <Text size="sm" c="dimmed">
                    <InlineCode text={describeOffer(offer)} />
                  </Text>
                </Card>
              ))}
          </SimpleGrid>
        </Stack>
      ))}
    </Page>
  );
}
