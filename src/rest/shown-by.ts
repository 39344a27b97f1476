import { getOption } from '@bufbuild/protobuf';
import { type ShownBy, shownByService, variableIn } from '../../gateway/response/location.ts';
import { job as jobOption, Step } from '../../gen/gleaner/options/v1/options_pb.ts';

/** Finds the endpoint that shows a submitted job: the first read method of the same kind on the same market. */
export const shownByKind: ShownBy = (endpoint, endpoints) => {
  const { kind } = getOption(endpoint.method, jobOption);
  if (kind === '') return shownByService(endpoint, endpoints);
  return endpoints.find((shown) => {
    const option = getOption(shown.method, jobOption);
    return (
      option.kind === kind &&
      option.step === Step.READ &&
      shown.method.parent === endpoint.method.parent &&
      variableIn(shown, endpoint) !== undefined
    );
  });
};
