import { useQuery } from '@connectrpc/connect-query';
import { useLocalStorage } from '@mantine/hooks';
import { skipToken } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { emptyFilter, useJobs } from '../jobs/useJobs.ts';
import { useSession } from '../session/session.ts';
import { eventsSince, type NewsEvent, operatorEvents, userEvents } from './events.ts';

/** Events since the caller last looked at them in this browser. */
export interface News {
  events: NewsEvent[];
  markSeen(): void;
}

/** Loads the news of the signed-in account. The first visit in a browser starts without news. */
export function useNews(): News {
  const { role, name, isTest } = useSession();
  const isOperator = role === 'operator';
  const [firstVisitMs] = useState(Date.now);
  const [seenMs, setSeenMs] = useLocalStorage({
    key: `gleaner.seen.${role}.${name}${isTest ? '.test' : ''}`,
    defaultValue: firstVisitMs,
    getInitialValueInEffect: false,
  });
  // Stores the time of the first visit.
  useEffect(() => setSeenMs((current) => current), [setSeenMs]);
  const { jobs } = useJobs({ ...emptyFilter, status: isOperator ? 'awaiting_approval' : '' }, 50);
  const options = { refetchInterval: pollMs.idle };
  const origins = useQuery(OperatorService.method.listOrigins, isOperator ? {} : skipToken, options);
  const alarms = useQuery(OperatorService.method.listDriftAlarms, isOperator ? {} : skipToken, options);
  const all = isOperator
    ? operatorEvents({
        waiting: jobs,
        origins: origins.data?.origins ?? [],
        alarms: alarms.data?.alarms ?? [],
      })
    : userEvents(jobs);
  return { events: eventsSince(all, seenMs), markSeen: () => setSeenMs(Date.now()) };
}
