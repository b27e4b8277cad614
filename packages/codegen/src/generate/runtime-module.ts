/** The module from which generated code imports everything of the ORM. */
export const runtimeModule = "@keywright/orm";
