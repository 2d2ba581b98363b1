// Runs in the page: the web SDK, and a record of what listeners received. Bundled when the tests start.

import {deleteApp, initializeApp} from 'firebase/app';
import * as sdk from 'firebase/firestore';

window.sdk = sdk;
window.watched = {};

// `cache`: 'memory', or 'tabs' for the persistent cache that all tabs share. `token`: instead of "owner".
window.connect = ({project, host, port, settings = {}, cache = 'memory', token}) => {
  const localCache =
    cache === 'tabs'
      ? sdk.persistentLocalCache({tabManager: sdk.persistentMultipleTabManager()})
      : sdk.memoryLocalCache();
  window.app = initializeApp({projectId: project, apiKey: 'none'});
  window.db = sdk.initializeFirestore(window.app, {...settings, localCache});
  sdk.connectFirestoreEmulator(window.db, host, port, token ? {mockUserToken: token} : undefined);
};

window.disconnect = () => deleteApp(window.app);

// Listens to a query or a document and keeps the newest state under `name`.
window.watch = (name, target) => {
  const state = {snapshots: 0, fromCache: true, pending: false, documents: {}, order: [], error: null};
  window.watched[name] = state;
  state.stop = sdk.onSnapshot(
    target,
    {includeMetadataChanges: true},
    (snapshot) => {
      const documents = snapshot.docs ?? (snapshot.exists() ? [snapshot] : []);
      state.snapshots += 1;
      state.fromCache = snapshot.metadata.fromCache;
      state.pending = snapshot.metadata.hasPendingWrites;
      state.order = documents.map(({id}) => id);
      state.documents = Object.fromEntries(documents.map((document) => [document.id, document.data()]));
    },
    (error) => (state.error = `${error.code}: ${error.message}`),
  );
  return state;
};

// True if `name` shows the server's state, and no write is pending.
window.settled = (name) => {
  const state = window.watched[name];
  if (state.error) throw new Error(state.error);
  return state.snapshots > 0 && !state.fromCache && !state.pending;
};
