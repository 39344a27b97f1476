/** Name under which the tab stores the example that runs once the page shows the test account. */
const waitingItem = 'gleaner.example';

/** Name under which the browser stores the ids of the latest examples. */
const jobIdsItem = 'gleaner.example-jobs';

/** Returns the ids of the latest examples that this browser ran, of any account. */
export const exampleJobIds = (): string[] =>
  (localStorage.getItem(jobIdsItem) ?? '').split(' ').filter((id) => id !== '');

/** Stores the id of an example that this browser ran. */
export const storeExample = (jobId: string): void =>
  localStorage.setItem(jobIdsItem, [jobId, ...exampleJobIds()].slice(0, 20).join(' '));

/** Stores the example that runs once the page shows the test account. */
export const storeWaitingExample = (id: string): void => sessionStorage.setItem(waitingItem, id);

/** Returns true if an example waits for the test account. */
export const hasWaitingExample = (): boolean => sessionStorage.getItem(waitingItem) !== null;

/** Returns the example that waits for the test account, or null, and removes it. */
export function takeWaitingExample(): string | null {
  const id = sessionStorage.getItem(waitingItem);
  sessionStorage.removeItem(waitingItem);
  return id;
}
