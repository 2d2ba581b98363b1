// The Node SDK, pointed at the server under test.

import {Firestore} from '@google-cloud/firestore';
import {after} from 'node:test';
import {newProject} from './check.js';

const opened = [];
after(() => Promise.all(opened.map((firestore) => firestore.terminate())));

// Keeps the SDK from looking for Google's metadata server.
process.env.METADATA_SERVER_DETECTION = 'none';

// A client of a fresh database. It is closed at the end of the test file.
export function openFirestore({address}, {projectId = newProject(), ...settings} = {}) {
  const firestore = new Firestore({
    projectId,
    host: address,
    ssl: false,
    customHeaders: {Authorization: 'Bearer owner'},
    ...settings,
  });
  opened.push(firestore);
  return firestore;
}
