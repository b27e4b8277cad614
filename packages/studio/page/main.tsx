import { render } from "preact";
import { App } from "./app.js";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/grid.css";
import "./styles/layout.css";
import "./styles/overlays.css";
import "./styles/rows.css";
import "./styles/views.css";

const root = document.getElementById("studio");
if (root !== null) render(<App />, root);
