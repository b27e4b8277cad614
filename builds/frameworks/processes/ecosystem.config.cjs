module.exports = {
  apps: [
    {
      name: "app",
      script: "server.js",
      exec_mode: "cluster",
      instances: 3,
      // Milliseconds in which a process must be ready, and in which it ends its requests and
      // closes the database.
      wait_ready: true,
      listen_timeout: 60_000,
      kill_timeout: 30_000,
    },
  ],
};
