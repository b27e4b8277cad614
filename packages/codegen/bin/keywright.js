#!/usr/bin/env node
// npm links a command only where its file exists at install time: before the build, dist does not.
import "../dist/cli/main.js";
