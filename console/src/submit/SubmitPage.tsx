import { Tabs, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useParams, useSearchParams } from 'react-router';
import { findJobType, type JobType } from '../../../src/contract/job-types.ts';
import { jobTypeText } from '../../../src/present/names.ts';
import { describeError } from '../ui/errors/describe.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { InlineCode } from '../ui/layout/InlineCode.tsx';
import { Loading } from '../ui/layout/Loading.tsx';
import { NotFound, Page } from '../ui/layout/Page.tsx';
import { useTab } from '../ui/layout/useTab.ts';
import { type Draft, fitsForm } from '../ui/request/draft.ts';
import { readRequestShape } from '../ui/request/fields.ts';
import { hasLines, isFormField } from '../ui/request/form-layout.ts';
import { optionMessage, optionQuery } from '../ui/request/options.ts';
import { type DraftSource, useDraft } from '../ui/request/useDraft.ts';
import { TextLink } from '../ui/TextLink.tsx';
import { FileMode } from './FileMode.tsx';
import { FormMode } from './FormMode.tsx';
import { describeJobType } from './JobTypesPage.tsx';
import { JsonMode } from './JsonMode.tsx';
import { ListMode } from './ListMode.tsx';
import { OptionTextsContext } from './option-texts.ts';
import type { ModeProps } from './SubmitBar.tsx';
import { UploadMode } from './UploadMode.tsx';
import { forgetInputs, useFormName, useKeptState } from './unsent.ts';
import { useScheduleChange } from './useScheduleChange.ts';
import { useSubmit } from './useSubmit.ts';

/** Scrolls to an error above a long form. */
const scrollTo = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'center' });

/** Submits a job, or changes what a schedule collects, by form, with a CSV file or as JSON. */
export function SubmitPage() {
  const { market = '', kind = '' } = useParams();
  const [parameters] = useSearchParams();
  const source = {
    jobId: parameters.get('job') ?? '',
    scheduleId: parameters.get('schedule') ?? '',
  };
  const jobType = findJobType({ market, kind });
  const { draft, error, refetch } = useDraft(source);
  if (!jobType) return <NotFound />;
  if (error)
    return <ErrorAlert error={error} retry={refetch} title="The request could not be loaded" />;
  return draft ? (
    <Loaded
      jobType={jobType}
      draft={draft}
      source={source}
      key={jobType.endpoint.path + source.jobId + source.scheduleId}
    />
  ) : (
    <Loading />
  );
}

interface LoadedProps {
  jobType: JobType;
  draft: Draft;
  source: DraftSource;
}

function Loaded({ jobType, draft, source: { jobId, scheduleId } }: LoadedProps) {
  const isNew = jobId === '' && scheduleId === '';
  const shape = useMemo(() => readRequestShape(jobType.method.input), [jobType]);
  const form = useFormName(isNew ? jobType.endpoint.path : '');
  const [texts, setTexts] = useKeptState(form, 'options', () => draft.options);
  const query = optionQuery(texts);
  const submission = useSubmit(jobType, query);
  const change = useScheduleChange(scheduleId, () => optionMessage(texts));
  const { busy, error, submit: send } = scheduleId === '' ? submission : change;
  const submit = async (body: string | FormData) => {
    await send(body);
    forgetInputs();
  };
  const [tab, setTab] = useTab(['form', 'file', 'json'], fitsForm(shape, draft) ? 'form' : 'file');
  const setOption = (name: string, text: string) =>
    setTexts((before) => ({ ...before, [name]: text }));
  return (
    <Page
      title={jobTypeText(jobType)}
      description={<InlineCode text={describeJobType(jobType)} />}
      actions={<BackLink scheduleId={scheduleId} />}
    >
      {error ? (
        <div ref={scrollTo}>
          <ErrorAlert
            error={error}
            title={scheduleId === '' ? 'Job not submitted' : 'Schedule not changed'}
            isShownElsewhere={(path) =>
              !jobType.endpoint.multipart && tab === 'form' && isFormField(shape, path)
            }
          />
        </div>
      ) : null}
      {scheduleId !== '' && (
        <Text size="sm" c="dimmed">
          The runs collect what you save here, from the next one on. If this kind of job needs an
          approval, the next run awaits it.
        </Text>
      )}
      <OptionTextsContext value={{ texts, change: setOption, query, scheduleId }}>
        {jobType.endpoint.multipart ? (
          <UploadMode jobType={jobType} shape={shape} draft={draft} busy={busy} submit={submit} />
        ) : (
          <Tabs value={tab} onChange={setTab}>
            <Modes
              jobType={jobType}
              shape={shape}
              draft={draft}
              form={form}
              busy={busy}
              error={error}
              submit={submit}
              openFile={() => setTab('file')}
            />
          </Tabs>
        )}
      </OptionTextsContext>
    </Page>
  );
}

/** Link to where a request is entered from. */
const BackLink = ({ scheduleId }: Pick<DraftSource, 'scheduleId'>) =>
  scheduleId === '' ? (
    <TextLink to="/submit">All job types</TextLink>
  ) : (
    <TextLink to={`/schedules/${scheduleId}`}>Back to the schedule</TextLink>
  );

interface ModesProps extends ModeProps {
  /** Name under which inputs are kept; '' if they are not. */
  form: string;
  /** Error of the last submit. */
  error: unknown;
  openFile: () => void;
}

/** Tabs with the ways to enter a request. */
function Modes({ error, openFile, form, ...mode }: ModesProps) {
  const { list } = mode.shape;
  // The file of a list that is too long for the form.
  const [longDraft, setLongDraft] = useState<Draft | null>(null);
  const showLong = (draft: Draft) => {
    setLongDraft(draft);
    openFile();
  };
  const problems = error
    ? Object.fromEntries(
        describeError(error).problems.map(({ where, message }) => [where, message]),
      )
    : {};
  return (
    <>
      <Tabs.List mb="md">
        <Tabs.Tab value="form">Form</Tabs.Tab>
        {list && <Tabs.Tab value="file">CSV file</Tabs.Tab>}
        <Tabs.Tab value="json">JSON</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="form">
        {list && hasLines(mode.shape) ? (
          <ListMode {...mode} form={form} list={list} problems={problems} />
        ) : (
          <FormMode {...mode} form={form} problems={problems} showLong={showLong} />
        )}
      </Tabs.Panel>
      {list && (
        <Tabs.Panel value="file">
          <FileMode
            {...mode}
            draft={longDraft ?? mode.draft}
            list={list}
            key={longDraft?.units.length}
          />
        </Tabs.Panel>
      )}
      <Tabs.Panel value="json">
        <JsonMode {...mode} />
      </Tabs.Panel>
    </>
  );
}
