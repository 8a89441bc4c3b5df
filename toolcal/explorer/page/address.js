// Every view has its own address: #/view?key=value. Who has it sees the same.
"use strict";

explorer.address = (() => {
  const views = new Map();

  /** A view: draws into the main part what its address asks for, and returns its title. */
  const register = (name, draw) => views.set(name, draw);

  function read() {
    const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
    return { view: path || "overview", given: Object.fromEntries(new URLSearchParams(query ?? "")) };
  }

  /** The address of a view; what is empty is left out. */
  function to(view, given = {}) {
    const filled = Object.entries(given).filter(([, value]) => value !== undefined && value !== null && value !== "");
    const query = new URLSearchParams(filled.map(([key, value]) => [key, String(value)])).toString();
    return `#/${view}${query && "?"}${query}`;
  }

  const go = (view, given) => (location.hash = to(view, given));

  /** The same view with some values changed; no step of the browser's history. */
  function change(values) {
    const { view, given } = read();
    history.replaceState(null, "", to(view, { ...given, ...values }));
    draw({ kept: true });
  }

  let latest = 0;

  async function draw({ kept = false } = {}) {
    const turn = (latest += 1);
    const { view, given } = read();
    const main = document.getElementById("main");
    const focused = kept ? document.activeElement?.id : null;
    const room = document.createElement("div");
    explorer.keys.clear();
    let title;
    try {
      title = await (views.get(view) ?? views.get("overview"))(room, given);
    } catch (error) {
      room.replaceChildren(explorer.elements.el("p", { class: "error", role: "alert" }, error.message));
      title = "Not found";
    }
    if (turn !== latest) return; // the reader has gone on
    main.replaceChildren(room);
    room.dispatchEvent(new CustomEvent("there"));
    document.title = `${title} - toolcal explorer`;
    for (const link of document.querySelectorAll("#views a")) {
      const here = link.hash.split("?")[0] === `#/${view}`;
      here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
    }
    main.dataset.drawn = location.hash || "#/";
    // A view that is drawn again is of new elements: who stood at a choice stays at it.
    if (kept) document.getElementById(focused)?.focus({ preventScroll: true });
    else {
      scrollTo(0, 0);
      main.focus({ preventScroll: true });
      explorer.elements.say(title);
    }
  }

  return { register, read, to, go, change, draw };
})();

// Keys of the view that is shown; not while somebody writes.
explorer.keys = (() => {
  const bound = new Map();
  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest("input, textarea, select, [contenteditable], .tabulator");
    if (writing || event.ctrlKey || event.metaKey || event.altKey || !bound.has(event.key)) return;
    event.preventDefault();
    bound.get(event.key)();
  });
  return { on: (key, action) => bound.set(key, action), clear: () => bound.clear() };
})();
