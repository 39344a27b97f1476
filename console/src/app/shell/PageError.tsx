import { ErrorAlert } from '../../ui/errors/ErrorAlert.tsx';
import { Page } from '../../ui/layout/Page.tsx';

/** Shown when a page fails to render or its code cannot be loaded. */
export function PageError({ error }: { error: unknown }) {
  return (
    <Page title="Something went wrong">
      <ErrorAlert
        error={error}
        title="This page could not be loaded"
        retry={() => location.reload()}
      />
    </Page>
  );
}
