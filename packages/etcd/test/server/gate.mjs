import { once } from "node:events";
import { connect, createServer } from "node:net";

/**
 * A TCP proxy that can stop forwarding. Connections then stay open and no byte arrives, as in a
 * network that is divided. What was sent until then arrives when the gate opens again.
 */
export class Gate {
  #server;
  #links = new Set();
  #isCut = () => false;

  constructor(server) {
    this.#server = server;
    this.port = server.address().port;
  }

  /** Starts a gate in front of a port of this machine. */
  static async start(port) {
    const server = createServer({ allowHalfOpen: true }, (from) => {
      gate.#link(from, connect({ port, host: "127.0.0.1", allowHalfOpen: true }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const gate = new Gate(server);
    return gate;
  }

  /** The number of open connections. */
  get connections() {
    return this.#links.size;
  }

  /**
   * Stops forwarding for the connections for which `isCut` returns true. It is called with the id
   * of the member that has made the connection, undefined if no member has.
   */
  cut(isCut = () => true) {
    this.#isCut = isCut;
    for (const link of this.#links) this.#update(link);
  }

  open() {
    this.cut(() => false);
  }

  async stop() {
    for (const { ends } of this.#links) for (const socket of ends) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #link(from, to) {
    const link = { ends: [from, to], source: undefined };
    this.#links.add(link);
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ]) {
      socket.on("data", (data) => {
        link.source ??= sourceOf(data);
        if (!this.#isCut(link.source)) {
          other.write(data);
          return;
        }
        socket.pause();
        socket.unshift(data);
      });
      socket.on("end", () => other.end());
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#links.delete(link);
        other.destroy();
      });
    }
    this.#update(link);
  }

  #update({ ends, source }) {
    const isCut = this.#isCut(source);
    for (const socket of ends) {
      if (isCut) socket.pause();
      else socket.resume();
    }
  }
}

/** Returns the id of the member that sends a request to another member. */
function sourceOf(data) {
  return /^x-server-from: (\w+)/im.exec(data.toString("latin1"))?.[1];
}
