import { Anchor, Tabs } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Link, useParams } from 'react-router';
import { describeError } from '../errors/describe.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { NotFound } from '../layout/NotFound.tsx';
import { Page } from '../layout/Page.tsx';
import { useTab } from '../layout/useTab.ts';
import { kindText, marketText, type Offer, offers } from '../offers/offers.ts';
import type { FieldTexts } from './body.ts';
import { FileMode } from './FileMode.tsx';
import { FormMode } from './FormMode.tsx';
import { type RequestShape, readRequestShape } from './fields.ts';
import { isFormField } from './form-layout.ts';
import { InlineCode } from './InlineCode.tsx';
import { JsonMode } from './JsonMode.tsx';
import { describeOffer } from './OffersPage.tsx';
import { OptionTextsContext } from './option-texts.ts';
import { optionQuery } from './options.ts';
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
  const [texts, setTexts] = useState<FieldTexts>({});
  const query = optionQuery(texts);
  const { busy, error, submit } = useSubmit(offer, query);
  const [tab, setTab] = useTab(['form', 'file', 'json'], 'form');
  const change = (name: string, text: string) => setTexts((before) => ({ ...before, [name]: text }));
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
      <OptionTextsContext value={{ texts, change, query }}>
        {offer.endpoint.multipart ? (
          <UploadMode offer={offer} shape={shape} busy={busy} submit={submit} />
        ) : (
          <Tabs value={tab} onChange={setTab}>
            <Modes offer={offer} shape={shape} busy={busy} error={error} submit={submit} />
          </Tabs>
        )}
      </OptionTextsContext>
    </Page>
  );
}

interface ModesProps {
  offer: Offer;
  shape: RequestShape;
  busy: boolean;
  /** Error of the last submit; null without one. */
  error: unknown;
  submit: (body: string) => Promise<void>;
}

/** Tabs with the ways to enter a request. */
function Modes({ error, ...mode }: ModesProps) {
  const { list } = mode.shape;
  const problems = error
    ? Object.fromEntries(describeError(error).problems.map(({ where, message }) => [where, message]))
    : {};
  return (
    <>
      <Tabs.List mb="md">
        <Tabs.Tab value="form">Form</Tabs.Tab>
        {list && <Tabs.Tab value="file">CSV file</Tabs.Tab>}
        <Tabs.Tab value="json">JSON</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="form">
        <FormMode {...mode} problems={problems} />
      </Tabs.Panel>
      {list && (
        <Tabs.Panel value="file">
          <FileMode {...mode} list={list} />
        </Tabs.Panel>
      )}
      <Tabs.Panel value="json">
        <JsonMode {...mode} />
      </Tabs.Panel>
    </>
  );
}
