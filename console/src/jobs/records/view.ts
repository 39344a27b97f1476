import { useSearchParams } from 'react-router';
import type { RecordFilter } from './query.ts';

/** Selection, order, and additional columns of the records on a page. */
export interface RecordView extends RecordFilter {
  /** Fields shown in addition to the common columns. */
  fields: readonly string[];
}

/** Returns the view that an address names. */
export function readView(parameters: URLSearchParams): RecordView {
  const status = parameters.get('status');
  return {
    search: parameters.get('search') ?? '',
    conditions: parameters.getAll('filter'),
    status: status === 'SUCCESS' || status === 'FAILED' ? status : '',
    sort: parameters.get('sort') ?? '',
    fields: parameters.getAll('column'),
  };
}

/** Writes a view into an address. Other parameters are kept. */
export function writeView(parameters: URLSearchParams, view: RecordView): void {
  const lists = { filter: view.conditions, column: view.fields };
  for (const [name, texts] of Object.entries(lists)) {
    parameters.delete(name);
    for (const text of texts) parameters.append(name, text);
  }
  for (const name of ['search', 'status', 'sort'] as const)
    if (view[name] === '') parameters.delete(name);
    else parameters.set(name, view[name]);
}

/** Returns the view of the page, which its address keeps, and a function that changes a part of it. */
export function useRecordView(): [view: RecordView, change: (part: Partial<RecordView>) => void] {
  const [parameters, setParameters] = useSearchParams();
  const change = (part: Partial<RecordView>) =>
    setParameters(
      (current) => {
        writeView(current, { ...readView(current), ...part });
        return current;
      },
      { replace: true, preventScrollReset: true },
    );
  return [readView(parameters), change];
}
