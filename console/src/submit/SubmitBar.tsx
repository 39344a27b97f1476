import { useQuery } from '@connectrpc/connect-query';
import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { pollMs } from '../app/queries.ts';
import { formatUnits } from '../number/format.ts';
import type { Offer } from '../offers/offers.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { ScheduleButton } from '../schedules/ScheduleButton.tsx';
import { describeCost } from './cost.ts';
import { Options } from './Options.tsx';
import { useOptionTexts } from './option-texts.ts';
import { optionMessage } from './options.ts';
import { QuotePanel } from './QuotePanel.tsx';

interface SubmitBarProps {
  offer: Offer;
  /** Number of units; null if it is unknown. */
  units: number | null;
  busy: boolean;
  /** Body of the request, of which the quote is shown; null while it is incomplete. */
  body: string | FormData | null;
  disabled?: boolean;
  /** Submits; without it the button submits its form. */
  onSubmit?: () => void;
  /** Further buttons. */
  children?: ReactNode;
}

/** Options, and a submit button with the cost, the balance after it, and the quote of the request. */
export function SubmitBar({
  offer,
  units,
  busy,
  body,
  disabled = false,
  onSubmit,
  children,
}: SubmitBarProps) {
  const { query, texts } = useOptionTexts();
  return (
    <Stack gap="xs">
      <Options />
      <QuotePanel offer={offer} body={body} />
      <Group>
        <CallButton
          call={offer.method}
          type={onSubmit ? 'button' : 'submit'}
          loading={busy}
          disabled={disabled || query === null}
          {...(onSubmit ? { onClick: onSubmit } : {})}
        >
          {units !== null && units > 1 ? `Submit ${formatUnits(units)}` : 'Submit'}
        </CallButton>
        <ScheduleButton
          offer={offer}
          body={query === null ? null : body}
          options={query === null ? undefined : optionMessage(texts)}
        />
        {children}
        <Cost offer={offer} units={units} />
      </Group>
    </Stack>
  );
}

function Cost({ offer, units }: Pick<SubmitBarProps, 'offer' | 'units'>) {
  const prices = useQuery(
    AccountService.method.listPrices,
    {},
    // Prices change with a restart of the service only.
    { staleTime: Number.POSITIVE_INFINITY },
  ).data?.prices;
  const { data } = useQuery(AccountService.method.getAccount, {}, { refetchInterval: pollMs.list });
  const price = prices?.find(({ market, kind }) => market === offer.market && kind === offer.kind);
  if (!price || !data?.account) return null;
  const { text, isShort } = describeCost({
    units,
    unitPrice: price.unitPrice,
    balance: Number(data.account.balance),
  });
  return (
    <Text size="sm" c={isShort ? 'var(--mantine-color-error)' : 'dimmed'} aria-live="polite">
      {text}
    </Text>
  );
}
