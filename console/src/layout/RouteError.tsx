import { useRouteError } from 'react-router';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { Page } from './Page.tsx';

/** Shown when a page fails to render or its code cannot be loaded. */
export function RouteError() {
  const error = useRouteError();
  return (
    <Page title="Something went wrong">
      <ErrorAlert error={error} title="This page could not be loaded" retry={() => location.reload()} />
    </Page>
  );
}
