const needsTestServer =
  "They need the server of Deno's own repository, which answers for a database";

/**
 * The tests that fail, by suite, by where the databases are, and by reason. A name that ends in `*`
 * stands for all names that begin so.
 */
export const expected = {
  deno: {
    compat: {
      "Keywright does not store a CryptoKey": ["set and get CryptoKey value"],
      "Keywright reports a server that it cannot reach with its own words": [
        "remote backend unreachable",
      ],
      [needsTestServer]: ["remote backend", "remote backend invalid *"],
    },
    connect: {
      "Deno's client does not support queues over KV Connect": [
        ...["basic listenQueue and enqueue", "listenQueue and enqueue *", "listenQueue with *"],
        ...["queue mixed types", "queue delay*", "queue large delay", "queue retries*"],
        ...["queue persistence *", "queue graceful close", "multiple listenQueues"],
        ...["enqueue with atomic*", "different kv instances for enqueue and queueListen"],
      ],
      "Deno's client sends these objects in a format that only Deno reads": [
        "set and get Blob value",
        "set and get File value",
        "set and get DOMException value",
        "set and get CryptoKey value",
      ],
      "Deno's client throws an Error if a server refuses a call, and not a TypeError": [
        "atomic mutation type=sum wrong type *",
        "atomic mutation type=min wrong type *",
        "atomic mutation type=max wrong type *",
      ],
      [needsTestServer]: [
        "remote backend",
        "remote backend invalid version",
        "remote backend invalid url",
      ],
    },
  },
  denokv: { compat: {}, connect: {} },
};
