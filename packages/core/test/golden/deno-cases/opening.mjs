import { group } from "./case-list.mjs";

const paths = {
  "an empty path": "",
  "a number": 5,
  "an object": {},
  "a boolean": true,
  "a symbol": Symbol("s"),
  "a URL object": new URL("http://localhost/"),
  "another name in memory": ":MEMORY:",
  "a colon": ":",
  "a URL without a token": "http://localhost:1/x",
  "an https URL without a token": "https://localhost:1/x",
  "a URL without a host": "http://",
  "a URL with a space": "https:// /",
};

for (const [name, path] of Object.entries(paths))
  group("openKv", { [name]: ({ openKv }) => openKv(path).then(() => "opened") });
