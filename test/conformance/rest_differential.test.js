// The same REST requests to Hearth and to the official emulator: both must answer with the same status and the same
// JSON, except for the differences in `differs`, which docs/compatibility.md explains.

import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {newProject} from './support/check.js';
import {Rest, integer, text} from './support/rest.js';
import {startEmulator, startTarget} from './support/server.js';

const project = newProject();
const sides = [];
let stop = [];
before(async () => {
  const servers = await Promise.all([startTarget(), startEmulator()]);
  stop = servers.filter((server) => server);
  if (servers[1]) sides.push(...servers.map((server) => new Rest(server, {project})));
});
after(() => Promise.all(stop.map((server) => server.stop())));

const isTime = (x) => typeof x === 'string' && /^20\d\d-\d\d-\d\dT/.test(x);

// The comparable parts of an answer: times, tokens and the wording of errors differ between servers.
function shape(x, key) {
  if (key === 'timestampValue') return x;
  if (isTime(x)) return 'a time';
  if (['transaction', 'nextPageToken'].includes(key)) return 'a token';
  if (Array.isArray(x)) return x.map((each) => shape(each));
  if (typeof x !== 'object' || x === null) return x;
  if (x.error) return {error: {code: x.error.code, status: x.error.status}};
  if (x.result) return {...x, readTime: shape(x.readTime), done: undefined}; // The protocol has no `done` for aggregates.
  return Object.fromEntries(Object.entries(x).map(([name, value]) => [name, shape(value, name)]));
}

// Errors of methods that answer with lists come in lists, in the cloud and in Hearth.
const unwrapped = (json) => (Array.isArray(json) && json.length === 1 && json[0].error ? json[0] : json);

async function outcome(side, {method = 'POST', at, query, body, headers}) {
  const {status, json} = await side.ask(method, at, {
    query,
    body: typeof body === 'function' ? body(side) : body,
    headers,
  });
  return {status, json: shape(unwrapped(json))};
}

const get = (at, query) => ({method: 'GET', at, query});
const patch = (at, fields, query) => ({method: 'PATCH', at, query, body: {fields}});
const query = (structuredQuery, at = ':runQuery') => ({
  at,
  body: {structuredQuery: {from: [{collectionId: 'c'}], ...structuredQuery}},
});
const field = (fieldPath) => ({fieldPath});
const where = (op, value) => ({where: {fieldFilter: {field: field('n'), op, value}}});

const same = [
  patch('c/a', {n: integer(1), s: text('x')}),
  patch('c/b', {n: integer(2), list: {arrayValue: {values: [integer(1), {mapValue: {}}]}}}),
  patch('c/c', {n: {doubleValue: 2.5}, none: {nullValue: null}, nan: {doubleValue: 'NaN'}}),
  patch('c/a/d/e', {deep: {mapValue: {fields: {x: {booleanValue: false}}}}}),
  patch('c/t', {
    t: {timestampValue: '2001-02-03T04:05:06.789+01:00'},
    b: {bytesValue: '_-8'},
    g: {geoPointValue: {latitude: 1}},
  }),
  patch('c/a', {n: integer(5)}, {'updateMask.fieldPaths': 'n'}),
  patch('c/a', {n: integer(6)}, 'updateMask.fieldPaths=n&mask.fieldPaths=n'),
  patch('c/a', {}, {'currentDocument.exists': 'false'}),
  patch('c/none', {}, {'currentDocument.exists': 'true'}),
  patch('c', {}),
  patch('c/__x__', {}),
  patch('c/bad', {__x__: integer(1)}),
  patch('c/bad', {a: {}}),
  patch('c/bad', {a: {integerValue: 'x'}}),
  patch('c/bad', {a: {integerValue: '1', stringValue: 'x'}}),
  patch('c/bad', {a: {arrayValue: {values: [{arrayValue: {}}]}}}),
  patch('c/bad', {t: {timestampValue: '2001-02-03T04:05:06'}}),
  patch('c/bad', {t: {timestampValue: '2001-02-03t04:05:06z'}}),
  patch('c/bad', {b: {bytesValue: '?'}}),
  patch('c/bad', {g: {geoPointValue: {latitude: 91}}}),
  get('c/a'),
  get('c/a', 'mask.fieldPaths=n'),
  get('c/a', 'mask.field_paths=s&mask.fieldPaths=none'),
  get('c/none'),
  get('c/t'),
  get('c'),
  get('c', 'mask.fieldPaths=n'),
  get('c', 'pageSize=2'),
  get('c', 'pageSize=-1'),
  get('c', 'orderBy=n%20desc'),
  get('c', 'orderBy=x%20foo'),
  get('c', 'showMissing=true&orderBy=n'),
  get('nothing'),
  get('c/a/d'),
  get('c/a/d/e'),
  get(':commit'),
  {at: 'c', query: 'documentId=made', body: {fields: {n: integer(9)}}},
  {at: 'c', query: 'documentId=made', body: {fields: {}}},
  {at: 'c', query: 'documentId=__x__', body: {}},
  {at: 'c', query: 'documentId=named', body: (side) => ({name: side.doc('c/named')})},
  {at: 'c/a', body: {}},
  {method: 'DELETE', at: 'c/made'},
  {method: 'DELETE', at: 'c/made'},
  {method: 'DELETE', at: 'c/made', query: 'currentDocument.exists=true'},
  {method: 'PUT', at: 'c/a', body: {}},
  {
    at: ':commit',
    body: (side) => ({
      writes: [
        {update: {name: side.doc('w/1'), fields: {n: integer(1)}}},
        {update: {name: side.doc('w/1')}, updateMask: {}, updateTransforms: [{fieldPath: 'n', increment: integer(2)}]},
        {delete: side.doc('w/2')},
      ],
    }),
  },
  {at: ':commit', body: (side) => ({writes: [{delete: side.doc('w/none'), currentDocument: {exists: true}}]})},
  {at: ':commit', body: {writes: [{delete: 'x'}]}},
  {at: ':commit', body: {writes: [{}]}},
  {at: ':commit', body: {writes: {}}},
  {at: ':commit', body: {nope: 1}},
  {at: ':commit', body: '{'},
  {at: ':commit', body: '[]'},
  {at: ':commit', body: {transaction: 'AAAA'}},
  {
    at: ':batchWrite',
    body: (side) => ({
      writes: [{update: {name: side.doc('w/3')}}, {update: {name: side.doc('w/1')}, currentDocument: {exists: false}}],
    }),
    ignores: 'message',
  },
  {at: ':batchGet', body: (side) => ({documents: [side.doc('c/a'), side.doc('c/none')], mask: {fieldPaths: ['n']}})},
  {at: ':batchGet', body: (side) => ({documents: [side.doc('c/a')], newTransaction: {readOnly: {}}})},
  {at: ':batchGet', body: {documents: ['x']}},
  {at: ':batchGet', body: {}},
  {at: ':beginTransaction', body: {}},
  {at: ':beginTransaction', body: {options: {readOnly: {}}}},
  {at: ':listCollectionIds', body: {}},
  {at: 'c/a:listCollectionIds', body: {pageSize: 5}},
  query({}),
  query(where('EQUAL', integer(6))),
  query(where(5, integer(6))),
  query(where('GREATER_THAN', integer(1))),
  query({...where('LESS_THAN', integer(100)), orderBy: [{field: field('n'), direction: 'DESCENDING'}], limit: 2}),
  query({...where('LESS_THAN', integer(100)), orderBy: [{field: field('n'), direction: 2}], offset: 1}),
  query({
    select: {fields: [field('n')]},
    startAt: {values: [{referenceValue: `projects/${project}/databases/(default)/documents/c/b`}], before: true},
    orderBy: [{field: field('__name__')}],
  }),
  query({from: [{collectionId: 'nothing'}]}),
  query({from: [{collectionId: 'd', allDescendants: true}]}),
  query({from: [{collectionId: 'd'}]}, 'c/a:runQuery'),
  query(where('NOPE', integer(1))),
  query(where('IN', {arrayValue: {}})),
  query({limit: -1}),
  query({limit: 'x'}),
  query({nope: 1}),
  {
    at: ':runAggregationQuery',
    body: {
      structuredAggregationQuery: {
        structuredQuery: {from: [{collectionId: 'c'}]},
        aggregations: [
          {alias: 'a', count: {}},
          {alias: 'b', sum: {field: field('n')}},
        ],
      },
    },
  },
  {
    at: ':runAggregationQuery',
    body: {
      structuredAggregationQuery: {
        structuredQuery: {from: [{collectionId: 'c'}]},
        aggregations: [{alias: 'a', count: {upTo: 1}}],
      },
    },
  },
  {at: ':nope', body: {}},
  {at: ':commit', body: '{"writes": []', headers: {'content-type': 'text/plain'}},
];

// [request, Hearth's status, the emulator's]
const different = [
  [get('c', 'pageToken=x'), 400, 500],
  [get('c/a', 'nope=1'), 400, 200],
  [get('c/a', 'alt=proto'), 400, 200],
  [get('c', 'showMissing=yes'), 400, 200],
  [{method: 'HEAD', at: 'c/a'}, 200, 404],
  [
    {
      at: ':runAggregationQuery',
      body: {
        structuredAggregationQuery: {
          structuredQuery: {from: [{collectionId: 'c'}]},
          aggregations: [{alias: 'a', count: {upTo: 0}}],
        },
      },
    },
    400,
    200,
  ],
  [query({where: {compositeFilter: {op: 'AND'}}}), 400, 200],
  [{at: ':executePipeline', body: {}}, 400, 500],
  [{at: ':listen', body: {}}, 501, 404],
  [{at: ':write', body: {}}, 501, 404],
];

const label = ({method = 'POST', at, query: parameters, body}) =>
  `${method} ${at} ${JSON.stringify(parameters) ?? ''} ${typeof body === 'function' ? '' : (JSON.stringify(body) ?? '')}`;

// Answers of batchWrite contain errors, whose wording differs too.
const withoutMessages = (x) => JSON.parse(JSON.stringify(x), (key, value) => (key === 'message' ? undefined : value));

test('both give the same answer', async (context) => {
  if (!sides.length) return context.skip('the official emulator is not installed');
  const differences = [];
  for (const request of same) {
    const [ours, theirs] = await Promise.all(sides.map((side) => outcome(side, request)));
    // Only Hearth answers an unknown path in JSON.
    if (ours.status === 404 && theirs.json === undefined) ours.json = undefined;
    const adapt = request.ignores ? withoutMessages : (x) => x;
    try {
      assert.deepEqual(adapt(ours), adapt(theirs));
    } catch {
      differences.push(`${label(request)}\n  ours   ${JSON.stringify(ours)}\n  theirs ${JSON.stringify(theirs)}`);
    }
  }
  assert.equal(differences.length, 0, differences.join('\n'));
});

test('known differences', async (context) => {
  if (!sides.length) return context.skip('the official emulator is not installed');
  for (const [request, ours, theirs] of different) {
    const statuses = await Promise.all(sides.map((side) => outcome(side, request)));
    assert.deepEqual(
      statuses.map(({status}) => status),
      [ours, theirs],
      label(request),
    );
  }
});
