export default {
  // The database has native code, which cannot be part of a bundle.
  serverExternalPackages: ["@keywright/core", "@keywright/orm"],
};
