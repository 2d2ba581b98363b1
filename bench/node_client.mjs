// One Node program with the published SDK: how many operations per second it completes.
// Usage: node_client.mjs HOST:PORT SECONDS. Prints JSON.
import {Firestore} from '@google-cloud/firestore';

const [address, seconds] = process.argv.slice(2);
const [host, port] = address.split(':');
const IN_FLIGHT = 32;
const DOCUMENTS = 200;

const db = new Firestore({
  projectId: 'bench',
  host,
  port: Number(port),
  ssl: false,
  customHeaders: {Authorization: 'Bearer owner'},
});

const content = (index) => ({
  title: `The document number ${index}`,
  author: 'somebody',
  url: `https://example.com/articles/${index}`,
  score: index,
  comments: 12,
  ratio: 0.5,
  published: true,
  tags: ['fire', 'place', 'stone'],
  place: {city: 'Hamburg'},
  round: Math.random(),
});

async function measure(operation) {
  let done = 0;
  const start = process.hrtime.bigint();
  const elapsed = () => Number(process.hrtime.bigint() - start) / 1e9;
  const worker = async () => {
    while (elapsed() < Number(seconds)) {
      await operation(done % DOCUMENTS);
      done++;
    }
  };
  await Promise.all(Array.from({length: IN_FLIGHT}, worker));
  return Math.round(done / elapsed());
}

const document = (index) => db.doc(`node/document-${index}`);
const sets = await measure((index) => document(index).set(content(index)));
// Always the same document: the canned server knows no other.
const gets = await measure(() => document(0).get());
console.log(JSON.stringify({sets_per_second: sets, gets_per_second: gets}));
await db.terminate();
