// Ends `npm start` and `npm test` with one sentence if Node.js is too old. Plain enough for every
// version since 2015.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 15)) {
  console.error(
    `Keywright needs Node.js 20.15 or later. This is Node.js ${process.versions.node}.`,
  );
  process.exit(1);
}
