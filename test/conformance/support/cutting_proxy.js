// A TCP proxy whose connections can be cut, and whose server can move: another process may take a server's port before
// the server comes back.

import {connect, createServer} from 'node:net';

export class CuttingProxy {
  #server;
  #pairs = new Set();

  // Listens on its own port for connections to `target`, which may change.
  static async start(target) {
    const proxy = new CuttingProxy();
    proxy.target = target;
    proxy.#server = createServer((client) => {
      const [host, port] = proxy.target.split(':');
      proxy.#join(client, connect(Number(port), host));
    });
    await new Promise((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    proxy.address = `127.0.0.1:${proxy.#server.address().port}`;
    return proxy;
  }

  #join(client, server) {
    const pair = [client, server];
    this.#pairs.add(pair);
    for (const [from, to] of [pair, [server, client]]) {
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('close', () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
      from.pipe(to);
    }
  }

  // Cuts the connections that `isChosen` selects, in the middle of whatever they carry. Returns how many.
  cut(isChosen = () => true) {
    const chosen = [...this.#pairs].filter(isChosen);
    for (const [client, server] of chosen) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    return chosen.length;
  }

  async stop() {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
