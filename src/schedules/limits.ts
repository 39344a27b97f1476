/** Maximum schedules of a user. */
export const maxSchedules = 100;
/** Maximum bytes of a schedule's request. */
export const maxRequestBytes = 8 * 1024 * 1024;
/** Consecutive failed runs after which a schedule is paused. */
export const maxFailures = 5;
/** Duration of a claim, the time lost when a process dies while it starts a run, in milliseconds. */
export const leaseMs = 60_000;
/** Delay of a run after which it counts as missed, in milliseconds. Load alone delays runs by less. */
export const missedMs = 600_000;
/** Interval at which the job of a run is read until it has ended, in milliseconds. */
export const openPollMs = 15_000;
/** Interval at which a waiting run is tried again, in milliseconds. */
export const waitPollMs = 5_000;
/**
 * Time after which a run whose submits fail for lack of the service's own components is given up, in
 * milliseconds.
 */
export const giveUpMs = 1_800_000;
/** Maximum runs of a schedule whose jobs have not ended. */
export const maxOpenRuns = 5;
