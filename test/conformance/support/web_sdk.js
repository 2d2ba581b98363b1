// The web SDK, which speaks gRPC in Node, pointed at the server under test.

import {deleteApp, initializeApp} from 'firebase/app';
import {connectFirestoreEmulator, initializeFirestore, setLogLevel, terminate} from 'firebase/firestore';
import {after} from 'node:test';
import {newProject} from './check.js';

const opened = [];
after(() => Promise.all(opened.map((close) => close())));
setLogLevel('silent');

// A client of a fresh database. It is closed at the end of the test file.
export function openWebFirestore({address}, {projectId = newProject(), ...settings} = {}) {
  const app = initializeApp({projectId, apiKey: 'none'}, `app${opened.length}`);
  const firestore = initializeFirestore(app, settings);
  const [host, port] = address.split(':');
  connectFirestoreEmulator(firestore, host, Number(port));
  opened.push(async () => {
    await terminate(firestore);
    await deleteApp(app);
  });
  return firestore;
}
