import { services } from '../../../src/contract/services.ts';
import { resolveJobTypes, resultFieldsOf } from '../../../src/jobs/job-types.ts';
import { kinds } from '../../../src/kinds/list.ts';
import { markets } from '../../../src/markets/list.ts';
import type { RecordFields } from '../../../src/quality/record-schema.ts';

const jobTypes = resolveJobTypes(services, kinds, markets);

/**
 * Returns the fields of a result record. `jobType` is a market and a kind, such as "mkta get_pc".
 */
export function resultFields(jobType: string): RecordFields {
  const [market = '', kind = ''] = jobType.split(' ');
  return resultFieldsOf(jobTypes.of({ market, kind }));
}
