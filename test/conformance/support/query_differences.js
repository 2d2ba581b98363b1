// The intended differences between Hearth's answers to queries and those of the official emulator: the executable side
// of the section on queries of docs/compatibility.md.

import {isDeepStrictEqual} from 'node:util';

const asksForType = (request) => JSON.stringify(request).includes('"fieldPath":"__type__"');
const areBothInvalid = (ours, theirs) => ours.code === 'INVALID_ARGUMENT' && theirs.code === 'INVALID_ARGUMENT';

// Whether the aggregated values are equal, ignoring those that are doubles on both sides.
function differOnlyInDoubles(ours, theirs) {
  const withoutDoubles = ({code, values}) => [
    code,
    values?.map((fields) =>
      Object.fromEntries(
        Object.entries(fields ?? {}).map(([alias, value]) => [alias, 'doubleValue' in value ? 'a double' : value]),
      ),
    ),
  ];
  return isDeepStrictEqual(withoutDoubles(ours), withoutDoubles(theirs));
}

const accepted = [
  // Hearth reads names backwards as well as forwards.
  (_ours, theirs) =>
    theirs.code === 'FAILED_PRECONDITION' && theirs.message === 'Firestore does not support descending key scans',
  (_ours, theirs) =>
    theirs.code === 'FAILED_PRECONDITION' && theirs.message.endsWith("they're an ascending primary key scan"),
  // The rounding error of a sum of doubles depends on their order. The emulator's order differs in every project.
  (ours, theirs, request) =>
    'structuredAggregationQuery' in request && ours.code === 'OK' && differOnlyInDoubles(ours, theirs),
  // Hearth compares long values completely. The emulator compares their first 1,500 bytes.
  (ours, theirs, request) =>
    ours.code === 'OK' && theirs.code === 'OK' && JSON.stringify(request).includes('"fieldPath":"l"'),
  // No field can have this name; the emulator refuses it with some operators and finds nothing with others.
  (ours, _theirs, request) => ours.message === 'Invalid reserved name in field path __type__' && asksForType(request),
  // According to its documentation Firestore counts up to at least 1.
  (ours, _theirs, request) =>
    ours.message === 'The `up_to` value in a COUNT aggregation must be greater than zero.' &&
    JSON.stringify(request).includes('"upTo":{"value":0}'),
  // Of several faults in a request, the emulator reports those of the aggregations first, Hearth those of the query.
  (ours, theirs, request) => areBothInvalid(ours, theirs) && 'structuredAggregationQuery' in request,
];

// Whether two unequal outcomes of `request` differ only in permitted ways.
export function isAcceptedForQueries(ours, theirs, request) {
  return accepted.some((accepts) => accepts(ours, theirs, request));
}
