// A proxy that forwards an answer only when it is complete, as some virus scanners and company networks do.

import {createServer, request} from 'node:http';

export async function startBufferingProxy(address) {
  const [host, port] = address.split(':');
  const proxy = createServer((asked, answer) => {
    const onward = request(
      {host, port, method: asked.method, path: asked.url, headers: asked.headers, agent: false},
      async (response) => {
        const pieces = [];
        try {
          for await (const piece of response) pieces.push(piece);
        } catch {
          return answer.destroy();
        }
        const {'transfer-encoding': _, connection: __, ...headers} = response.headers;
        answer.writeHead(response.statusCode, headers);
        answer.end(Buffer.concat(pieces));
      },
    );
    onward.once('error', () => answer.destroy());
    answer.once('close', () => onward.destroy());
    asked.pipe(onward);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${proxy.address().port}`,
    stop() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
