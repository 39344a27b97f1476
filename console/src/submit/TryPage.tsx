import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { Alert, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useSearchParams } from 'react-router';
import { RecordItemSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { hasItemText, isAddress, parseItemText } from '../../../src/contract/item-text.ts';
import { type JobType, jobTypes, unitMessage } from '../../../src/contract/job-types.ts';
import { marketTitle } from '../../../src/present/names.ts';
import { counted } from '../../../src/present/text.ts';
import { CodeBlock } from '../ui/CodeBlock.tsx';
import { describeError } from '../ui/errors/describe.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { RecordDetails, type ShownItem } from '../ui/record/RecordDetails.tsx';
import { jsonCommand } from '../ui/request/curl.ts';
import { readRequestShape } from '../ui/request/fields.ts';
import { isFormField } from '../ui/request/form-layout.ts';
import { withQuery } from '../ui/request/options.ts';
import type { SubmittedJob } from '../ui/request/send.ts';
import { basePath } from '../ui/session/base-path.ts';
import { TextLink } from '../ui/TextLink.tsx';
import { FormMode } from './FormMode.tsx';
import { QuotePanel } from './QuotePanel.tsx';
import { useSubmit } from './useSubmit.ts';

/** Job types whose units are products that people name by an address or an id. */
const productTypes = jobTypes.filter((jobType) => hasItemText(unitMessage(jobType)));

/** Time that the page waits for the record: less than proxies usually allow. */
const wait = 'wait=30';

/** Collects one product and shows its record. */
export function TryPage() {
  const [parameters, setParameters] = useSearchParams();
  const chosen = productTypes.find(({ market }) => market === parameters.get('market'));
  const jobType = chosen ?? productTypes[0]!;
  const [address, setAddress] = useState(parameters.get('item') ?? '');
  const select = (market: string) => setParameters({ market }, { replace: true });
  const changeAddress = (text: string) => {
    setAddress(text);
    const { market } = typeOfAddress(text, jobType);
    if (market !== jobType.market) select(market);
  };
  const isUnknown = address.trim() !== '' && itemOf(jobType, address) === null;
  return (
    <Page
      title="Try it"
      description="Collect one product now, for the price of one unit, and see its record."
    >
      <NativeSelect
        label="Marketplace"
        maw={480}
        value={jobType.market}
        onChange={(event) => select(event.currentTarget.value)}
        data={productTypes.map(({ market }) => ({ value: market, label: marketTitle(market) }))}
      />
      <TextInput
        label="Address or ID of the product"
        description="Selects the marketplace of an address, and fills in the fields below."
        maw={720}
        value={address}
        onChange={(event) => changeAddress(event.currentTarget.value)}
        error={isUnknown && unknownText(jobType, address)}
      />
      <Product jobType={jobType} address={address} key={jobType.market} />
    </Page>
  );
}

const itemOf = (jobType: JobType, text: string) => parseItemText(unitMessage(jobType), text);

/** Says why a text names no product: "None of these marketplaces has this address." */
function unknownText({ market }: JobType, text: string): string {
  if (isAddress(text.trim())) return 'None of these marketplaces has this address of a product.';
  return `${marketTitle(market)} has no such ID. Select the marketplace, or use the fields below.`;
}

/** Returns the job type of the product with an address: another one if only that knows it. */
function typeOfAddress(text: string, jobType: JobType): JobType {
  if (!isAddress(text.trim()) || itemOf(jobType, text) !== null) return jobType;
  return productTypes.find((other) => itemOf(other, text) !== null) ?? jobType;
}

/** Form for the product of a marketplace with an address or id, and its record. */
function Product({ jobType, address }: { jobType: JobType; address: string }) {
  const { method } = jobType;
  const shape = useMemo(() => readRequestShape(method.input), [method]);
  const [job, setJob] = useState<SubmittedJob | null>(null);
  const { busy, error, submit } = useSubmit(jobType, wait, setJob);
  const item = useMemo(() => itemOf(jobType, address), [jobType, address]);
  const values = item ?? {};
  const draft = { own: values, units: shape.list ? [values] : [], options: {} };
  const problems = error
    ? describeError(error).problems.map(({ where, message }) => [where, message])
    : [];
  const send = (body: string) => {
    setJob(null);
    return submit(body);
  };
  return (
    <>
      {error ? (
        <ErrorAlert
          error={error}
          title="Job not submitted"
          isShownElsewhere={(path) => isFormField(shape, path)}
        />
      ) : null}
      <FormMode
        jobType={jobType}
        shape={shape}
        draft={draft}
        busy={busy}
        submit={send}
        problems={Object.fromEntries(problems)}
        key={JSON.stringify(item)}
        single={(body) => (
          <>
            <Group align="flex-start">
              <CallButton call={method} type="submit" loading={busy}>
                Get product
              </CallButton>
              <QuotePanel jobType={jobType} body={body} />
            </Group>
            {job && <Result job={job} />}
            {body !== null && <Request jobType={jobType} body={body} />}
          </>
        )}
      />
    </>
  );
}

function Request({ jobType, body }: { jobType: JobType; body: string }) {
  const text = jsonCommand(
    location.origin + basePath + withQuery(jobType.endpoint.path, wait),
    body,
  );
  return (
    <Section title="Request" description="Set KEY to an API key first.">
      <CodeBlock label="curl command" text={text} />
    </Section>
  );
}

/** Record of a job with one unit, or why there is none. */
function Result({ job: { jobId, outcome } }: { job: SubmittedJob }) {
  const link = <TextLink to={`/jobs/${jobId}`}>Open the job</TextLink>;
  if (outcome?.record === undefined) {
    const { message = '', code = '', refunded = 0, status } = outcome ?? {};
    const reason = message === '' ? `The job is ${status}.` : `${message} (${code}).`;
    const refundText = refunded > 0 ? ` ${counted(refunded, 'credit')} refunded.` : '';
    return (
      <Alert
        role="alert"
        color={outcome ? 'red' : 'blue'}
        title={outcome ? 'No record' : 'Still running'}
      >
        <Text size="sm">
          {outcome ? `${reason}${refundText}` : 'The job page shows its record.'}
        </Text>
        {link}
      </Alert>
    );
  }
  const { item, record } = outcome;
  return (
    <Section title="Record" actions={link}>
      <RecordDetails item={shownItem(item)} record={record} />
    </Section>
  );
}

/** Returns the common values of an item, as REST names them. */
function shownItem(item: object | undefined): ShownItem {
  return item === undefined
    ? {}
    : fromJson(RecordItemSchema, item as JsonObject, { ignoreUnknownFields: true });
}
