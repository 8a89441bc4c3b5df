// Opens the page: what it is about, then the view of its address.
"use strict";

(async () => {
  const { el } = explorer.elements;
  const main = document.getElementById("main");
  const views = [
    ["overview", "Overview"],
    ["charts", "Charts"],
    ["tables", "Tables"],
    ["cases", "Conversations"],
    ["corrections", "Corrections"],
  ];
  document
    .getElementById("views")
    .append(...views.map(([view, words]) => el("li", {}, el("a", { href: `#/${view}` }, words))));
  document.getElementById("skip").addEventListener("click", () => main.focus());
  try {
    explorer.about = await explorer.data.load("tables/about");
  } catch (error) {
    main.replaceChildren(
      el("p", { class: "error", role: "alert" }, `${error.message} The page needs the folder data beside it.`),
    );
    return;
  }
  explorer.corrections.count();
  addEventListener("hashchange", () => explorer.address.draw());
  await explorer.address.draw();
})();
