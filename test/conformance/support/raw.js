// The Firestore service without an SDK: requests as plain objects, outcomes as {code, message, response}.

import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';
import {createRequire} from 'node:module';
import {dirname} from 'node:path';
import {patienceMs} from './patience.js';

const protocolRoot = dirname(createRequire(import.meta.url).resolve('google-proto-files/package.json'));
const definition = loader.loadSync('google/firestore/v1/firestore.proto', {
  longs: String,
  enums: String,
  defaults: false,
  oneofs: false,
  includeDirs: [protocolRoot],
});
const {Firestore} = grpc.loadPackageDefinition(definition).google.firestore.v1;

const codeNames = Object.fromEntries(Object.entries(grpc.status).map(([name, code]) => [code, name]));

// The name of a numeric gRPC code, "OK" for none.
export const codeName = (code) => codeNames[code ?? 0];

// The wire form of a request, for tests that modify it.
export const encode = (method, request) => Firestore.service[method].requestSerialize(request);
// The reverse, for answers that did not arrive over gRPC.
export const decode = (method, bytes) => Firestore.service[method].responseDeserialize(bytes);

// A bidirectional stream: requests are sent immediately, answers are buffered until they are read.
export class RawStream {
  #call;
  #answers = [];
  #arrived = () => {};
  #outcome;

  constructor(call) {
    this.#call = call;
    const status = new Promise((resolve) => call.once('status', resolve));
    const end = new Promise((resolve) => call.once('end', resolve));
    call.on('error', () => {}); // The status reports it too.
    call.on('data', (answer) => {
      this.#answers.push(answer);
      this.#arrived();
    });
    // How the stream ended, once all answers have arrived.
    this.ended = Promise.all([status, end]).then(([{code, details}]) => {
      this.#outcome = {code: codeName(code), message: details};
      this.#arrived();
      return this.#outcome;
    });
  }

  send(request) {
    this.#call.write(request);
    return this;
  }

  halfClose() {
    this.#call.end();
    return this;
  }

  // Cancels the stream, and waits until that is done.
  cancel() {
    this.#call.cancel();
    this.#call.resume();
    return this.ended;
  }

  // Stops reading, so that the answers pile up on the way; `resume` continues.
  pause() {
    this.#call.pause();
  }

  resume() {
    this.#call.resume();
  }

  // The next answer; null when the stream has ended.
  async nextOrEnd() {
    const late = Date.now() + patienceMs;
    while (!this.#answers.length) {
      if (this.#outcome) return null;
      let timer;
      await new Promise((resolve) => {
        this.#arrived = resolve;
        timer = setTimeout(resolve, Math.max(0, late - Date.now()));
      });
      clearTimeout(timer);
      if (!this.#answers.length && !this.#outcome && Date.now() >= late)
        throw new Error(`no answer within ${patienceMs} ms`);
    }
    return this.#answers.shift();
  }

  async next() {
    const answer = await this.nextOrEnd();
    if (answer === null) throw new Error(`the stream has ended: ${JSON.stringify(await this.ended)}`);
    return answer;
  }
}

export class Raw {
  #client;

  constructor(address, {owner = true} = {}) {
    this.#client = new Firestore(address, grpc.credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
    });
    this.headers = owner ? {authorization: 'Bearer owner'} : {};
  }

  ready(msMax) {
    return new Promise((resolve, reject) => {
      this.#client.waitForReady(Date.now() + msMax, (error) => (error ? reject(error) : resolve()));
    });
  }

  close() {
    this.#client.close();
  }

  #metadata(headers) {
    const metadata = new grpc.Metadata();
    for (const [key, value] of Object.entries({...this.headers, ...headers})) metadata.set(key, value);
    return metadata;
  }

  // Starts a call: `done` is its outcome, `cancel` cancels it. A streamed answer is a list.
  start(method, request, {deadlineMs = patienceMs, headers = {}, body} = {}) {
    const metadata = this.#metadata(headers);
    const {path, requestSerialize, responseDeserialize, responseStream} = Firestore.service[method];
    const serialize = body ? () => body : requestSerialize;
    const options = {deadline: Date.now() + deadlineMs};
    let call;
    const done = new Promise((resolve) => {
      const fail = (error) => resolve({code: codeName(error.code), message: error.details});
      if (responseStream) {
        const answers = [];
        call = this.#client.makeServerStreamRequest(path, serialize, responseDeserialize, request, metadata, options);
        call.on('data', (answer) => answers.push(answer));
        call.on('error', fail);
        call.on('end', () => resolve({code: 'OK', message: '', response: answers}));
      } else {
        call = this.#client.makeUnaryRequest(
          path,
          serialize,
          responseDeserialize,
          request,
          metadata,
          options,
          (error, response) => (error ? fail(error) : resolve({code: 'OK', message: '', response})),
        );
      }
    });
    return {done, cancel: () => call.cancel()};
  }

  // Opens Listen or Write.
  open(method, {headers = {}} = {}) {
    const metadata = this.#metadata(headers);
    const {path, requestSerialize, responseDeserialize} = Firestore.service[method];
    return new RawStream(this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata));
  }

  call(method, request, options) {
    return this.start(method, request, options).done;
  }

  // The response of a call that must succeed.
  async must(method, request, options) {
    const {code, message, response} = await this.call(method, request, options);
    if (code !== 'OK') throw new Error(`${method}: ${code}: ${message}`);
    return response;
  }
}
