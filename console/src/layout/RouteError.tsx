import { useRouteError } from 'react-router';
import { FaultAlert } from '../fault/FaultAlert.tsx';
import { Page } from './Page.tsx';

/** Stands for a page that broke, or whose code could not be loaded. */
export function Failed() {
  const error = useRouteError();
  return (
    <Page title="This page does not work">
      <FaultAlert error={error} title="The page could not be shown" retry={() => location.reload()} />
    </Page>
  );
}
