// Runs each query once and prints what it returned and read.
// Usage: explain.mjs HOST:PORT plain|analyze NAME=METHOD:FILE... Prints one JSON object, keyed by name.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';

const require = createRequire(import.meta.url);
const grpc = require('@grpc/grpc-js');
const protobuf = require('protobufjs');
// Loaded by path, since the package does not export it.
const descriptor = '../node_modules/@google-cloud/firestore/build/protos/v1.json';
const v1 = protobuf.Root.fromJSON(require(descriptor)).lookup('google.firestore.v1');

const [address, mode, ...queries] = process.argv.slice(2);
const client = new grpc.Client(address, grpc.credentials.createInsecure());
const metadata = new grpc.Metadata();
metadata.set('authorization', 'Bearer owner');

function ask(method, file) {
  const bytes = readFileSync(file);
  const Request = v1.lookupType(`${method}Request`);
  const Response = v1.lookupType(`${method}Response`);
  const request = Request.decode(bytes.subarray(4, 4 + bytes.readUInt32LE(0)));
  if (mode === 'analyze') request.explainOptions = {analyze: true};
  const call = client.makeServerStreamRequest(
    `/google.firestore.v1.Firestore/${method}`,
    (message) => Buffer.from(Request.encode(message).finish()),
    (buffer) => Response.decode(buffer),
    request,
    metadata,
  );
  const answer = {results: 0, indexes: [], index_entries: 0, documents: 0};
  return new Promise((resolve, reject) => {
    call.on('data', (response) => {
      if (response.document) answer.results++;
      const count = response.result && Object.values(response.result.aggregateFields)[0];
      if (count) answer.results = Number(count.integerValue);
      const metrics = response.explainMetrics;
      if (!metrics) return;
      answer.indexes = metrics.planSummary.indexesUsed.map((index) => index.fields.properties.stringValue);
      const debug = metrics.executionStats.debugStats.fields;
      answer.index_entries = Number(debug.index_entries_scanned.stringValue);
      answer.documents = Number(debug.documents_scanned.stringValue);
    });
    call.on('end', () => resolve(answer));
    call.on('error', reject);
  });
}

const answers = {};
for (const query of queries) {
  const [, name, method, file] = query.match(/^(\w+)=(\w+):(.*)$/);
  answers[name] = await ask(method, file);
}
console.log(JSON.stringify(answers));
client.close();
