// usage: node tls_server.mjs KEY CERTIFICATE: answers every gRPC call with its own message, over TLS, on a free
// loopback port.
import {readFileSync} from 'node:fs';
import {createSecureServer} from 'node:http2';

const [key, cert] = process.argv.slice(2).map((path) => readFileSync(path));
const server = createSecureServer({key, cert, allowHTTP1: false});
server.on('stream', (stream) => {
  const pieces = [];
  stream.on('data', (piece) => pieces.push(piece));
  stream.on('wantTrailers', () => stream.sendTrailers({'grpc-status': '0'}));
  stream.on('end', () => {
    stream.respond({':status': 200, 'content-type': 'application/grpc'}, {waitForTrailers: true});
    stream.end(Buffer.concat(pieces));
  });
});
server.listen(0, '127.0.0.1', () => console.log(`listening on 127.0.0.1:${server.address().port}`));
