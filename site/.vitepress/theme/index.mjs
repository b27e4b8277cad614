import DefaultTheme from "vitepress/theme-without-fonts";
import { defineAsyncComponent } from "vue";
import "./style.css";

// The fonts of the system: they are there at once, so no text moves when a font arrives.
export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    // A file of its own, which other pages do not load.
    const playground = () => import("../../playground/Playground.vue");
    app.component("Playground", defineAsyncComponent(playground));
  },
};
