import { Anchor, Tabs } from '@mantine/core';
import { useMemo } from 'react';
import { Link, useParams } from 'react-router';
import { describeError } from '../errors/describe.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { NotFound } from '../layout/NotFound.tsx';
import { Page } from '../layout/Page.tsx';
import { useTab } from '../layout/useTab.ts';
import { kindText, marketText, type Offer, offers } from '../offers/offers.ts';
import { FileMode } from './FileMode.tsx';
import { FormMode } from './FormMode.tsx';
import { readRequestShape } from './fields.ts';
import { isFormField } from './form-layout.ts';
import { InlineCode } from './InlineCode.tsx';
import { JsonMode } from './JsonMode.tsx';
import { describeOffer } from './OffersPage.tsx';
import { UploadMode } from './UploadMode.tsx';
import { useSubmit } from './useSubmit.ts';

/** Submits a job by form, with a CSV file or as JSON. */
export function SubmitPage() {
  const { market, kind } = useParams();
  const offer = offers.find((each) => each.market === market && each.kind === kind);
  return offer ? <Loaded offer={offer} key={offer.endpoint.path} /> : <NotFound />;
}

function Loaded({ offer }: { offer: Offer }) {
  const shape = useMemo(() => readRequestShape(offer.method.input), [offer]);
  const { busy, error, submit } = useSubmit(offer);
  const [tab, setTab] = useTab(['form', 'file', 'json'], 'form');
  const problems = error
    ? Object.fromEntries(describeError(error).problems.map(({ where, message }) => [where, message]))
    : {};
  return (
    <Page
      title={`${kindText(offer.kind)} on ${marketText(offer.market)}`}
      description={<InlineCode text={describeOffer(offer)} />}
      actions={
        <Anchor component={Link} to="/submit" size="sm">
          All job types
        </Anchor>
      }
    >
      {error ? (
        <ErrorAlert
          error={error}
          title="Job not submitted"
          isShownElsewhere={(path) => !offer.endpoint.multipart && tab === 'form' && isFormField(shape, path)}
        />
      ) : null}
      {offer.endpoint.multipart ? (
        <UploadMode offer={offer} shape={shape} busy={busy} submit={submit} />
      ) : (
        <Tabs value={tab} onChange={setTab}>
          <Tabs.List mb="md">
            <Tabs.Tab value="form">Form</Tabs.Tab>
            {shape.list && <Tabs.Tab value="file">CSV file</Tabs.Tab>}
            <Tabs.Tab value="json">JSON</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="form">
            <FormMode offer={offer} shape={shape} busy={busy} submit={submit} problems={problems} />
          </Tabs.Panel>
          {shape.list && (
            <Tabs.Panel value="file">
              <FileMode offer={offer} shape={shape} list={shape.list} busy={busy} submit={submit} />
            </Tabs.Panel>
          )}
          <Tabs.Panel value="json">
            <JsonMode offer={offer} shape={shape} busy={busy} submit={submit} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Page>
  );
}
