// A server with the interface of S3, in a process of its own: its continuation tokens need old
// ciphers of OpenSSL. `node --openssl-legacy-provider s3-server.mjs FOLDER`.
import S3rver from "s3rver";

const [directory] = process.argv.slice(2);
const server = new S3rver({
  ...{ port: 0, address: "127.0.0.1", silent: true, directory },
  configureBuckets: [{ name: "backups", configs: [] }],
});
process.on("disconnect", () => process.exit());
const { port } = await server.run();
process.send(port);
