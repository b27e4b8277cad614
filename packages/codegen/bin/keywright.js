#!/usr/bin/env node
// npm links a command only if its file exists when the package is installed. Before a build, dist does not exist.
// Old versions of Node.js must be able to read this file up to its end, so it has no static import.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 15)) {
  console.error(
    `keywright needs Node.js 20.15 or later. This is Node.js ${process.versions.node}.`,
  );
  process.exitCode = 1;
} else {
  void import("../dist/cli/main.js");
}
